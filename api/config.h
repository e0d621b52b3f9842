// All options of the API.
#pragma once

#include <string>
#include <vector>

#include "api/limits.h"
#include "backends/options/bodies_settings.h"
#include "backends/options/kafka_settings.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "daemon/run/daemon_options.h"

namespace fanline::api {

struct Config {
  daemon::DaemonOptions daemon;
  Endpoint listen{"127.0.0.1", 8080};
  options::MysqlSettings mysql;
  options::RedisSettings redis;
  options::KafkaSettings kafka{.brokers = "", .optional = true};  // where posts are published
  options::TimelineSettings timelines;
  options::BodiesSettings bodies;
  std::vector<std::string> allowed_origins;  // origins whose pages may change something: door.h
  Limits limits;
};

void AddOptions(daemon::OptionTable& table, Config& config);

}  // namespace fanline::api
