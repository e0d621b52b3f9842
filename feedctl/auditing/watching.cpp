#include "feedctl/auditing/watching.h"

#include <prometheus/registry.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "audit/look.h"
#include "backends/kafka/tools/log_reader.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/redis/installation_mark.h"
#include "backends/redis/range_states.h"
#include "backends/redis/timeline_scanner.h"
#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "fanline/base/mono_now.h"
#include "feedctl/auditing/watch_metrics.h"
#include "feedctl/support/explain.h"

namespace fanline::feedctl {
namespace {

using namespace std::chrono_literals;

constexpr Duration kKafkaPatience = 5s;
constexpr Duration kShortestSleep = 100ms;

// How far hints are applied in each range, from Redis and Kafka. A range that nobody has claimed
// yet is left out.
class ProgressReader {
 public:
  ProgressReader(const Settings& settings, const mysql::Installation& installation,
                 const redis::Options& redis, LogSink log)
      : installation_(installation),
        redis_(redis),
        kafka_(options::ToOptions(settings.kafka, kClientId), kKafkaPatience, std::move(log)) {}

  // Not done: *progress is unchanged. A range whose node is away keeps its progress.
  Status Read(audit::Progress* progress) {
    const Time asked_at = SystemNow().mono;
    std::vector<kafka::LogSpan> logs;
    Status status = kafka_.Look(installation_.tasks_topic,
                                static_cast<int32_t>(installation_.partitions), 0, &logs);
    if (!status.done()) return status;
    std::vector<redis::RangeState> states;
    status = redis::ReadRangeStates(redis_, &states);
    if (!status.done()) return status;
    for (const redis::RangeState& state : states) {
      if (!state.status.done()) continue;
      const bool known = state.position && state.position->generation == installation_.generation;
      if (!known) {
        progress->erase(state.range);
        continue;
      }
      (*progress)[state.range] = {.applied = state.position->offset,
                                  .end = logs.at(static_cast<size_t>(state.range)).to,
                                  .end_asked_at = asked_at};
    }
    return Status::Done();
  }

 private:
  const mysql::Installation& installation_;
  const redis::Options& redis_;
  kafka::LogReader kafka_;
};

// Throws when the installation has changed since the start, since comparisons would be wrong. A
// store that is away does not count.
void RequireSame(const Status& status, const Settings& settings) {
  if (status.never()) Require(status, settings);
}

std::unique_ptr<daemon::Admin> Serve(const daemon::AdminOptions& options,
                                     const prometheus::Registry& registry,
                                     const daemon::Health& health, const daemon::Log& log) {
  try {
    return std::make_unique<daemon::Admin>(options, registry, health, log);
  } catch (const std::runtime_error& taken) {
    throw Failure(kExitConfig, std::string("--admin-listen: ") + taken.what());
  }
}

}  // namespace

void AddOptions(daemon::OptionTable& table, WatchOptions& options) {
  table.Add("watch-every", &options.limits.every, "how often --watch compares a few more timelines")
      .Range(100ms, 24h);
  table
      .Add("watch-readers", &options.limits.readers,
           "timelines compared each time; each costs Redis two reads, and each shard a few "
           "statements")
      .Range(1, 1'000);
  table
      .Add("watch-again-after", &options.limits.again_after,
           "shortest time until a timeline that differs is compared again; this also waits until "
           "all "
           "hints are applied that the log held at the first look")
      .Range(100ms, 10min);
  AddOptions(table, options.admin);
}

void WatchTimelines(const Settings& settings, const mysql::Installation& installation,
                    const redis::Options& redis, const WatchOptions& options,
                    Interrupt& interrupt) {
  const Interrupt::Graceful graceful(interrupt);
  const daemon::Log log("audit");
  daemon::Health health;
  prometheus::Registry registry;
  const auto metrics = PrometheusWatch(registry, log);
  const auto admin = Serve(options.admin, registry, health, log);
  const auto config = options::ToConfig(settings.mysql);
  mysql::ShardConnections connections(config);
  mysql::MysqlReaderTruth truth(config, installation.shard_map);
  redis::TimelineScanner timelines(redis);
  audit::Looker looker(truth, timelines, installation.window.underfilled_below(),
                       installation.own_posts);
  ProgressReader reader(settings, installation, redis, log.Sink());
  // A round may take long when stores are slow, so each look reports life and checks for a stop.
  const auto goes_on = [&] {
    health.Beat(SystemNow().mono);
    return !interrupt.requested();
  };
  const Status stopping = Status::Later("none", "stopping");
  audit::Watch watch({[&](UserId user, audit::Look* look) {
                        return goes_on() ? looker.LookAt(user, look) : stopping;
                      },
                      [&](Range range, std::string* cursor, std::vector<UserId>* readers) {
                        return goes_on() ? timelines.Listed(range, cursor, readers) : stopping;
                      },
                      [] { return SystemNow().mono; }},
                     installation.layout(), options.limits, *metrics);
  audit::Progress progress;
  while (goes_on()) {
    RequireSame(mysql::CheckUnchanged(connections, installation), settings);
    RequireSame(redis::CheckMark(redis), settings);
    const Status read = reader.Read(&progress);
    health.SetReady("progress", read.done(), read.message);
    const Time next = watch.Step(progress, SystemNow().mono);
    interrupt.Sleep(std::max(next - SystemNow().mono, kShortestSleep));
  }
}

}  // namespace fanline::feedctl
