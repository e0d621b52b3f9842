#include "feedctl/auditing/watching.h"

#include <prometheus/registry.h>

#include <algorithm>
#include <thread>

#include "audit/look.h"
#include "backends/kafka/tools/log_reader.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/redis/range_states.h"
#include "backends/redis/timeline_scanner.h"
#include "daemon/clock.h"
#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "feedctl/auditing/watch_metrics.h"

namespace fanline::feedctl {
namespace {

using namespace std::chrono_literals;

constexpr Duration kKafkaPatience = 5s;
constexpr Duration kLongestSleep = 100ms;  // until an interrupt is noticed

// How far the ranges are, by Redis and Kafka. A range whose node is away, or that nobody has
// claimed yet, is left out.
class ProgressReader {
 public:
  ProgressReader(const Settings& settings, const mysql::Installation& installation,
                 const redis::Options& redis, LogSink log)
      : installation_(installation),
        redis_(redis),
        kafka_(options::ToOptions(settings.kafka, kClientId), kKafkaPatience, std::move(log)) {}

  // Not done: *progress stays what it was.
  Status Read(audit::Progress* progress) {
    const Time asked_at = daemon::SystemNow().mono;
    std::vector<kafka::LogSpan> logs;
    Status status = kafka_.Look(installation_.tasks_topic,
                                static_cast<int32_t>(installation_.partitions), 0, &logs);
    if (!status.done()) return status;
    std::vector<redis::RangeState> states;
    status = redis::ReadRangeStates(redis_, &states);
    if (!status.done()) return status;
    progress->clear();
    for (const redis::RangeState& state : states) {
      if (!state.status.done() || !state.position) continue;
      if (state.position->generation != installation_.generation) continue;
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

void SleepUntil(Time until, const Interrupt& interrupt) {
  for (Time now; !interrupt.requested() && (now = daemon::SystemNow().mono) < until;) {
    std::this_thread::sleep_for(std::min(until - now, kLongestSleep));
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
           "how long after the first look a timeline that differs is looked at again, at the "
           "least; the second look also waits until all hints are applied that the log held then")
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
  const auto metrics = PrometheusWatch(registry, log, health);
  const daemon::Admin admin(options.admin, registry, health, log);
  mysql::MysqlReaderTruth truth(options::ToConfig(settings.mysql), installation.shard_map);
  redis::TimelineScanner timelines(redis);
  audit::Looker looker(truth, timelines, installation.window.underfilled_below(),
                       installation.own_posts);
  ProgressReader reader(settings, installation, redis, log.Sink());
  audit::Watch watch({[&](UserId user, audit::Look* look) { return looker.LookAt(user, look); },
                      [&](Range range, std::string* cursor, std::vector<UserId>* readers) {
                        return timelines.Listed(range, cursor, readers);
                      },
                      [] { return daemon::SystemNow().mono; }},
                     installation.layout(), options.limits, *metrics);
  audit::Progress progress;
  while (!interrupt.requested()) {
    const Status read = reader.Read(&progress);
    health.SetReady("progress", read.done(), read.message);
    const Time next = watch.Step(progress, daemon::SystemNow().mono);
    health.Beat(daemon::SystemNow().mono);
    SleepUntil(std::max(next, daemon::SystemNow().mono + kLongestSleep), interrupt);
  }
}

}  // namespace fanline::feedctl
