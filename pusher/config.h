// All options of the pusher.
#pragma once

#include <string>

#include "backends/options/kafka_settings.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "daemon/run/daemon_options.h"
#include "pusher/limits.h"

namespace fanline::pusher {

struct Config {
  daemon::DaemonOptions daemon;
  options::KafkaSettings kafka;
  std::string group = "fanline-pusher";
  options::RedisSettings redis;
  options::TimelineSettings timelines;
  options::MysqlSettings mysql;
  uint32_t truth_threads = 2;  // per shard
  Limits limits;
};

void AddOptions(daemon::OptionTable& table, Config& config);

}  // namespace fanline::pusher
