// All options of the pusher.
#pragma once

#include <string>

#include "backends/options/kafka_settings.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "daemon/run/daemon_options.h"
#include "pusher/base/limits.h"

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

inline void AddOptions(daemon::OptionTable& table, Config& config) {
  using namespace std::chrono_literals;
  config.daemon.admin.listen.port = 9402;
  daemon::AddOptions(table, config.daemon);
  options::AddOptions(table, config.kafka);
  table.Add("group", &config.group, "consumer group on the tasks topic");
  options::AddOptions(table, config.redis);
  options::AddOptions(table, config.timelines);
  options::AddOptions(table, config.mysql);
  table.Add("truth-threads", &config.truth_threads, "threads that read each shard").Range(1, 32);
  Limits& limits = config.limits;
  table.Add("timelines-per-batch", &limits.timelines_per_batch, "timelines in one write batch")
      .Range(1, 5'000);
  table.Add("items-per-zadd", &limits.items_per_zadd, "posts that may meet in one timeline's write")
      .Range(1, kMaxAddsPerWrite);
  table
      .Add("batches-in-flight", &limits.batches_in_flight,
           "write batches sent ahead to each node of Redis")
      .Range(1, 64);
  table
      .Add("followers-per-page", &limits.followers_per_page, "followers of one author read at once")
      .Range(100, 100'000);
  table
      .Add("buffered-hints", &limits.buffered_hints_per_range,
           "hints held of one range before it is paused")
      .Range(16, 1'000'000);
  table
      .Add("held-hints", &limits.held_hints,
           "hints held of all ranges, about 1 KB each: half of it is anybody's, of the rest each "
           "range has an equal share")
      .Range(16'384, 100'000'000);
  table
      .Add("follower-lists", &limits.follower_lists,
           "bytes for lists of authors' followers, so that they are not read again for each post; "
           "0: none are kept")
      .Range(0, uint64_t{1} << 36);
  table
      .Add("follower-lists-age", &limits.follower_lists_age,
           "how long such a list is believed before it is read again")
      .Range(1s, 24h);
  options::AddGather(table, &limits.gather);
  // The log's end is asked for every five seconds. A page is incomplete when the progress of its
  // range is more than ten seconds old (api/pages.h).
  table
      .Add("save-position-every", &limits.save_position_every,
           "how often progress is written to Redis and then committed")
      .Range(0s, 3s);
}

}  // namespace fanline::pusher
