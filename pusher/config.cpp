#include "pusher/config.h"

namespace fanline::pusher {

using namespace std::chrono_literals;

namespace {

void AddSampleOptions(daemon::OptionTable& table, audit::SamplerLimits& limits) {
  table
      .Add("sample-every", &limits.every,
           "how often a few live timelines of its ranges are compared with the truth; 0 is never")
      .Range(0ms, 24h);
  table
      .Add("sample-readers", &limits.readers,
           "timelines compared each time; each costs Redis two reads, and each shard a few "
           "statements")
      .Range(1, 1'000);
  table
      .Add("sample-again-after", &limits.again_after,
           "how long after the first look a timeline that differs is looked at again, at the "
           "least: it also waits until the hints are applied that are in the log by then, and the "
           "log's end is asked for every 5 s")
      .Range(100ms, 10min);
}

}  // namespace

void AddOptions(daemon::OptionTable& table, Config& config) {
  config.daemon.admin.listen.port = 9402;
  daemon::AddOptions(table, config.daemon);
  options::AddOptions(table, config.kafka);
  options::AddTasksTopic(table, config.topics);
  table.Add("group", &config.group, "consumer group on the tasks topic");
  options::AddOptions(table, config.redis);
  options::AddWindow(table, config.agreed);
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
  options::AddGather(table, &limits.gather);
  table.Add("save-position-every", &limits.save_position_every,
            "how often progress is written to Redis and then committed");
  AddSampleOptions(table, config.sample);
}

}  // namespace fanline::pusher
