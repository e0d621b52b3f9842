// Where Redis is and how large its timelines are, as every program of ours is told.
#pragma once

#include <chrono>
#include <string>

#include "backends/redis/options.h"
#include "daemon/options/options.h"
#include "fanline/endpoint.h"

namespace fanline::options {

struct RedisSettings {
  Endpoint address{"127.0.0.1", 6379};
  std::string user;  // empty: the default user
  std::string password;
  std::chrono::milliseconds connect_timeout{1000};
  std::chrono::milliseconds command_timeout{2000};
};

// What all writers and readers of timelines must be told alike.
struct TimelineSettings {
  uint32_t window = 450;
  uint32_t max_entries = 512;
  std::chrono::milliseconds ttl = std::chrono::hours(168);
};

// --redis, --redis-user, --redis-password, --redis-connect-timeout, --redis-command-timeout.
// `settings` outlives the table, here and below.
void AddOptions(daemon::OptionTable& table, RedisSettings& settings);

// --window, --timeline-max-entries, --timeline-ttl
void AddOptions(daemon::OptionTable& table, TimelineSettings& settings);

[[nodiscard]] WindowLimits ToWindow(const TimelineSettings& timelines);

// Of settings that a table has accepted. Who writes through LiveTimelines sets `partitions` from
// the installation.
[[nodiscard]] redis::Options ToOptions(const RedisSettings& redis,
                                       const TimelineSettings& timelines = {});

}  // namespace fanline::options
