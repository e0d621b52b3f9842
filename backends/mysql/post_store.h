// The dispatcher's writes of truth (port fanline/post_store.h).
//
// One request = one transaction: the rows of all its posts in one upsert in primary key order, then
// the authors' last_at, then what the dispatcher must know of each event is read back. A deadlock's
// victim starts over, a few times. Threads, back-off and callbacks: as for MysqlTruth. With more
// than one thread per shard, requests for one shard may be committed in any order (the rule of
// ApplyEvent allows it).
#pragma once

#include <functional>
#include <memory>

#include "backends/mysql/config.h"
#include "fanline/log_sink.h"
#include "fanline/post_store.h"

namespace fanline::mysql {

struct PostStoreLimits {
  size_t threads_per_shard = 1;
  size_t queued_per_shard = 1024;  // requests, each of many events
};

class MysqlPostStore : public PostStore {
 public:
  MysqlPostStore(const Config& config, std::function<void(EventsApplied)> reply, HealthSink health,
                 LogSink log, PostStoreLimits limits = {});
  ~MysqlPostStore() override;

  void Submit(ApplyEvents request) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::mysql
