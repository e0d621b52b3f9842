// Where Redis is and how long its timelines live, as every program of ours is told.
#pragma once

#include <chrono>
#include <string>

#include "backends/redis/client/options.h"
#include "daemon/options/options.h"
#include "fanline/base/endpoint.h"

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
  std::chrono::milliseconds ttl = std::chrono::hours(168);
};

// --redis, --redis-user, --redis-password, --redis-connect-timeout, --redis-command-timeout.
// `settings` outlives the table, here and below.
void AddOptions(daemon::OptionTable& table, RedisSettings& settings);

// --timeline-ttl
void AddOptions(daemon::OptionTable& table, TimelineSettings& settings);

// Of settings that a table has accepted, and the installation's window. Who writes through
// LiveTimelines sets `partitions` from the installation, too.
[[nodiscard]] redis::Options ToOptions(const RedisSettings& redis,
                                       const TimelineSettings& timelines = {},
                                       const WindowLimits& window = {});

}  // namespace fanline::options
