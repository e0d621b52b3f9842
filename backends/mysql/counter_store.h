// Port CounterStore over the shards, one thread for each. Threads, back-off and callbacks: as for
// MysqlTruth, but a statement may take a quarter of a minute, and a count of tens of millions of
// rows takes many.
#pragma once

#include <functional>
#include <memory>

#include "backends/mysql/config.h"
#include "fanline/counter_store.h"
#include "fanline/log_sink.h"

namespace fanline::mysql {

class MysqlCounterStore final : public CounterStore {
 public:
  struct Replies {
    std::function<void(MarkedRead)> marked;
    std::function<void(CounterRepaired)> repaired;
    std::function<void(CountersSwept)> swept;
  };

  MysqlCounterStore(const Config& config, const ShardMap& map, Replies replies, HealthSink health,
                    LogSink log);
  ~MysqlCounterStore() override;

  void Submit(ReadMarked request) override;
  void Submit(RepairCounter request) override;
  void Submit(SweepCounters request) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::mysql
