// The options that tell every program of ours where Redis is and how long timelines live.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "backends/mysql/installation/installation_row.h"
#include "backends/redis/client/options.h"
#include "daemon/options/options.h"
#include "fanline/base/endpoint.h"

namespace fanline::options {

struct RedisSettings {
  std::vector<std::string> seeds{"127.0.0.1:6379"};  // one node, some of a Cluster, or Sentinels
  redis::Options options;                            // all else that the options below say

  std::vector<Endpoint> addresses() const;  // the seeds, after a table has accepted them
};

// Must be the same for all writers and readers of timelines.
struct TimelineSettings {
  std::chrono::milliseconds ttl = std::chrono::hours(168);
};

// --redis, --redis-sentinel-{master,user,password[-file]}, --redis-user, --redis-password[-file],
// --redis-tls-{ca,cert,key}, --redis-key-prefix, --redis-connect-timeout, --redis-command-timeout.
// Here and below, `settings` outlives the table.
void AddOptions(daemon::OptionTable& table, RedisSettings& settings);

// --timeline-ttl
void AddOptions(daemon::OptionTable& table, TimelineSettings& settings);

// The settings must have been accepted by a table. The installation adds what all programs agree
// on: the window, the ranges and the generation. The ranges are part of every key's name.
[[nodiscard]] redis::Options ToOptions(const RedisSettings& redis,
                                       const TimelineSettings& timelines,
                                       const mysql::Installation& installation);

}  // namespace fanline::options
