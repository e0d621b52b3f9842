#include "feedctl/auditing/watching.h"

#include <prometheus/registry.h>

#include <algorithm>
#include <limits>
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
#include "daemon/observe/metrics.h"
#include "fanline/base/mono_now.h"
#include "feedctl/auditing/findings_text.h"
#include "feedctl/support/explain.h"

namespace fanline::feedctl {
namespace {

using namespace std::chrono_literals;
using audit::Difference;

constexpr Duration kShortestSleep = 100ms;
constexpr Duration kSayAgain = 1min;

// The metrics that docs/metrics.md lists; findings and failures also go to the log. Called from the
// watch's thread; scraped from another.
class Prometheus final : public daemon::RegistryMetrics<audit::WatchMetrics> {
 public:
  Prometheus(prometheus::Registry& registry, const daemon::Log& log)
      : RegistryMetrics(registry, log) {
    misses_.Set(std::numeric_limits<double>::quiet_NaN());  // nothing compared yet
    RoundEnded();                                           // none is due yet
  }

  void RoundEnded() override { last_.Set(static_cast<double>(SystemNow().unix_ms) / 1'000); }

  void Judged(Result result, uint64_t items) override {
    timelines_[static_cast<size_t>(result)]->Increment();
    Add(items_, items);
  }

  void Found(const std::vector<Difference>& all) override {
    Add(missing_, audit::MissingIn(all));
    Add(surplus_, audit::SurplusIn(all));
    log_.Error("a live timeline is wrong; feedctl audit --repair rebuilds it",
               {{"reader", ToString(all.front().reader)},
                {"differences", all.size()},
                {"first", ToText(all.front())}});
  }

  void Holding(double misses_per_10000, size_t wrong) override {
    misses_.Set(misses_per_10000);
    wrong_.Set(static_cast<double>(wrong));
  }

  void Failed(const std::string& resource, const std::string& reason) override {
    log_.WarnEvery("watch " + resource, kSayAgain, SystemNow().mono,
                   "a round of the watch was aborted",
                   {{"resource", resource}, {"reason", reason}});
  }

 private:
  Counters<4> timelines_ = AddCounters(
      "fanline_audit_timelines_total", "Live timelines compared with the truth, by what came of it",
      "result", {"good", "wrong", "unsettled", "not_judged"});  // by Result
  Counter& items_ = AddCounter("fanline_audit_items_total",
                               "Items in live timelines that were compared with the truth");
  Counter& missing_ = AddCounter("fanline_audit_missing_total",
                                 "Items that were missing in live timelines at both looks");
  Counter& surplus_ = AddCounter("fanline_audit_surplus_total",
                                 "Items in live timelines that should not be there, at both looks");
  Gauge& misses_ = AddGauge("fanline_audit_misses_per_10000",
                            "Items missing per 10,000 live items of the timelines compared last; "
                            "0 is the only good value");
  Gauge& wrong_ = AddGauge("fanline_audit_wrong_timelines",
                           "How many of the timelines compared last are wrong");
  Gauge& last_ = AddGauge("fanline_audit_last_round_timestamp_seconds",
                          "When the last whole round ended, in seconds since 1970");
};

// How far hints are applied in each range, from Redis and Kafka. A range that nobody has claimed
// yet is left out.
class ProgressReader {
 public:
  ProgressReader(const Settings& settings, const mysql::Installation& installation,
                 const redis::Options& redis, LogSink log)
      : installation_(installation),
        redis_(redis),
        kafka_(options::ToOptions(settings.kafka, kClientId), kKafkaTimeout, std::move(log)) {}

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
  Prometheus metrics(registry, log);
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
                     installation.layout(), options.limits, metrics);
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
