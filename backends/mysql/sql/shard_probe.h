// Knows which shards answer, even while nobody uses them: asks each once a second
// (Config::primary_check). A shard that refuses, is read-only or is silent for two seconds is away
// until it answers again. Each shard has its own connection and thread, so that one that hangs does
// not delay the others.
#pragma once

#include <utility>
#include <vector>

#include "backends/mysql/sql/shard_pool.h"

namespace fanline::mysql {

class ShardProbe {
 public:
  // `health` is called with the first known state of each shard, and with every change.
  ShardProbe(const Config& config, HealthSink health, LogSink log)
      : pool_(Impatient(config), {.probes = true}, *this, std::move(health), std::move(log)) {}

 private:
  struct Nothing {};
  using Pool = ShardPool<Nothing, ShardProbe>;
  friend Pool;

  static constexpr const char* kName = "probe";

  static Config Impatient(Config config) {
    config.read_timeout = std::chrono::seconds(2);
    config.reopen.most = std::chrono::seconds(1);
    return config;
  }
  static void ServeBatch(Connection&, const std::vector<Nothing>&) {}
  static void FailJob(const Nothing&, const Status&) {}

  Pool pool_;
};

}  // namespace fanline::mysql
