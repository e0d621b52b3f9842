// Knows which shards answer, though nobody asks them anything: a pool of probers alone. A shard
// that refuses, is read-only or is silent for two seconds is away until it answers again.
#pragma once

#include <utility>
#include <vector>

#include "backends/mysql/sql/shard_pool.h"

namespace fanline::mysql {

class ShardProbe {
 public:
  // `health` is called with the first known state of each shard, and with every change.
  ShardProbe(const Config& config, HealthSink health, LogSink log)
      : pool_(config, {.threads_per_shard = 0, .probes = true}, *this, std::move(health),
              std::move(log)) {}

 private:
  struct Nothing {};
  using Pool = ShardPool<Nothing, ShardProbe>;
  friend Pool;

  static constexpr const char* kName = "probe";

  static void ServeBatch(Connection&, const std::vector<Nothing>&) {}
  static void FailJob(const Nothing&, const Status&) {}

  Pool pool_;
};

}  // namespace fanline::mysql
