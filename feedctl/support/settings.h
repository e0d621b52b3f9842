// Where the services are, shared by all commands. Each command declares the options of those it
// uses.
#pragma once

#include "backends/options/kafka_settings.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"

namespace fanline::feedctl {

struct Settings {
  options::KafkaSettings kafka;
  options::TopicSettings topics;
  options::RedisSettings redis;
  options::TimelineSettings timelines;
  options::MysqlSettings mysql;
};

inline constexpr const char* kClientId = "feedctl";
inline constexpr Duration kKafkaTimeout = std::chrono::seconds(5);  // of a question to Kafka

}  // namespace fanline::feedctl
