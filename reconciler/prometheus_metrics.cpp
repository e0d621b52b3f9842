#include "reconciler/prometheus_metrics.h"

#include <chrono>
#include <cstdlib>

#include "daemon/clock.h"
#include "daemon/observe/metrics.h"

namespace fanline::reconciler {
namespace {

using daemon::AddCounter;
using daemon::AddGauge;
using daemon::AddHistogram;
using prometheus::Counter;
using prometheus::Registry;

constexpr Duration kWarnEvery = std::chrono::seconds(10);

Counter& PairsTotal(Registry& registry, const std::string& result) {
  return AddCounter(registry, "fanline_rel_pairs_total",
                    "Messages of relation-log, by what became of the pair", {{"result", result}});
}

Counter* RetriesTotal(Registry& registry, const std::string& cause) {
  return &AddCounter(registry, "fanline_rel_retries_total",
                     "Pairs given to the retries, to be checked later", {{"cause", cause}});
}

Counter* ChecksTotal(Registry& registry, const std::string& outcome) {
  return &AddCounter(registry, "fanline_rel_checks_total",
                     "Edges whose two rows were compared, by what was found",
                     {{"net", "pair"}, {"outcome", outcome}});
}

Counter* RepairsTotal(Registry& registry, const std::string& kind) {
  return &AddCounter(registry, "fanline_rel_repairs_total",
                     "Edges and counters set right, by what it took",
                     {{"net", "pair"}, {"kind", kind}});
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

PrometheusMetrics::PrometheusMetrics(Registry& registry, const daemon::Log& log)
    : registry_(registry),
      log_(log),
      latency_(AddHistogram(registry, "fanline_rel_pair_latency_seconds",
                            "From a change's msg1 to its msg2, by the broker's clock",
                            daemon::SecondsBuckets())),
      matched_(PairsTotal(registry, "matched")),
      early_(PairsTotal(registry, "early")),
      dup_(PairsTotal(registry, "dup")),
      coalesced_(PairsTotal(registry, "coalesced")),
      timeout_(PairsTotal(registry, "timeout")),
      early_expired_(AddCounter(registry, "fanline_rel_early_expired_total",
                                "msg2 whose msg1 never came: lost, or a writer unknown to us")),
      retried_{RetriesTotal(registry, "checks_failed"), RetriesTotal(registry, "too_many"),
               RetriesTotal(registry, "deferred")},
      lost_(AddCounter(registry, "fanline_events_lost_total",
                       "Offsets cut from a log before they were read: longer retention needed")),
      tails_lost_(daemon::AddTailsLost(registry)),
      undecodable_(AddCounter(registry, "fanline_rel_undecodable_total",
                              "Records that are no message we know")),
      checks_{ChecksTotal(registry, "equal"),   ChecksTotal(registry, "stale"),
              ChecksTotal(registry, "missing"), ChecksTotal(registry, "ahead"),
              ChecksTotal(registry, "orphan"),  ChecksTotal(registry, "corrupt")},
      repairs_{RepairsTotal(registry, "add"), RepairsTotal(registry, "remove"),
               RepairsTotal(registry, "bump")},
      counter_repairs_(AddCounter(registry, "fanline_rel_repairs_total",
                                  "Edges and counters set right, by what it took",
                                  {{"net", "counter"}, {"kind", "counter"}})),
      swept_(AddCounter(registry, "fanline_rel_counters_swept_total",
                        "Users whose counters were compared with their rows")),
      swept_wrong_(AddCounter(registry, "fanline_rel_counters_swept_wrong_total",
                              "Counters that the comparison found wrong")),
      counter_drift_(AddHistogram(registry, "fanline_rel_counter_drift",
                                  "By how much a counter that was repaired had been wrong",
                                  daemon::SizeBuckets())),
      repair_seconds_(AddHistogram(registry, "fanline_rel_repair_seconds",
                                   "From the read that found a difference to its repair",
                                   daemon::SecondsBuckets())),
      withheld_(AddCounter(registry, "fanline_rel_repairs_withheld_total",
                           "Repairs not made: a dry run, an open breaker, no version left")),
      throttled_(AddCounter(registry, "fanline_rel_throttled_seconds_total",
                            "Time checks waited for the throttle of their shard",
                            {{"reason", "rate"}})),
      pending_(AddGauge(registry, "fanline_rel_pending", "Pairs that wait for their msg2")),
      oldest_(
          AddGauge(registry, "fanline_rel_oldest_pending_seconds", "Age of the oldest of them")),
      commit_lag_(AddGauge(registry, "fanline_rel_commit_offset_lag",
                           "Records of relation-log that a restart would read again")),
      mirror_lag_(
          AddGauge(registry, "fanline_rel_mirror_lag_seconds",
                   "How far behind the mirror was seen: above the grace no pair is checked")),
      retry_depth_(AddGauge(registry, "fanline_rel_retry_depth",
                            "Entries of relation-log.retry held until they are due")),
      parked_(daemon::AddParked(registry)) {}

void PrometheusMetrics::Matched(Duration from_msg1_to_msg2) {
  matched_.Increment();
  latency_.Observe(Seconds(from_msg1_to_msg2));
}

void PrometheusMetrics::Early() { early_.Increment(); }
void PrometheusMetrics::Duplicate() { dup_.Increment(); }
void PrometheusMetrics::Coalesced() { coalesced_.Increment(); }
void PrometheusMetrics::TimedOut() { timeout_.Increment(); }
void PrometheusMetrics::EarlyExpired() { early_expired_.Increment(); }

void PrometheusMetrics::SentToRetry(RetryCause cause) {
  retried_.at(static_cast<size_t>(cause))->Increment();
}

void PrometheusMetrics::LogGap(int32_t partition, int64_t wanted, int64_t first) {
  lost_.Increment(static_cast<double>(first - wanted));
  log_.Error("records were cut from a log before they were read; what they said is found by a scan",
             {{"partition", partition}, {"from_offset", wanted}, {"to_offset", first}});
}

void PrometheusMetrics::TailLost(int32_t partition, int64_t position, int64_t end) {
  tails_lost_.Increment();
  log_.Error(
      "a log lost its tail and is read again from its first record; what its lost records said is "
      "found by a scan",
      {{"partition", partition}, {"position", position}, {"end", end}});
}

void PrometheusMetrics::Undecodable(const std::string& why) {
  undecodable_.Increment();
  log_.WarnEvery("undecodable", kWarnEvery, daemon::SystemNow().mono,
                 "a record is no message we know", {{"reason", why}});
}

void PrometheusMetrics::Checked(Finding finding) {
  checks_.at(static_cast<size_t>(finding))->Increment();
}

void PrometheusMetrics::Repaired(RepairKind kind, Duration since) {
  repairs_.at(static_cast<size_t>(kind))->Increment();
  repair_seconds_.Observe(Seconds(since));
}

void PrometheusMetrics::WouldRepair(const EdgeKey& edge, const Verdict& verdict) {
  withheld_.Increment();
  log_.WarnEvery("withheld", kWarnEvery, daemon::SystemNow().mono, "a repair was not made",
                 {{"src", ToString(edge.src)},
                  {"dst", ToString(edge.dst)},
                  {"version", std::to_string(verdict.state.ver)},
                  {"follows", verdict.state.live}});
}

void PrometheusMetrics::Unrepairable(const EdgeKey& edge) {
  withheld_.Increment();
  log_.Error("no version is left for this edge: set its rows right by hand",
             {{"src", ToString(edge.src)}, {"dst", ToString(edge.dst)}});
}

void PrometheusMetrics::BreakerOpen(Shard shard, bool open) {
  auto& gauge = breakers_[shard];
  if (gauge == nullptr) {
    gauge = &AddGauge(registry_, "fanline_rel_breaker_open",
                      "1: too many followers would be removed, an operator must look",
                      {{"shard", std::to_string(shard)}});
  }
  gauge->Set(open ? 1 : 0);
  if (open && !open_[shard]) {
    log_.Error(
        "repairs would remove too many followers: they stop until the setting reconciler "
        "goes from dry_run or pause to run",
        {{"shard", shard}});
  }
  open_[shard] = open;
}

void PrometheusMetrics::Throttled(Duration waited) { throttled_.Increment(Seconds(waited)); }

void PrometheusMetrics::Parked(const std::string& resource) { parked_.Increment(resource); }

void PrometheusMetrics::Pending(uint64_t pairs, Duration oldest, uint64_t commit_lag) {
  pending_.Set(static_cast<double>(pairs));
  oldest_.Set(Seconds(oldest));
  commit_lag_.Set(static_cast<double>(commit_lag));
}

void PrometheusMetrics::CountersMarked(Shard shard, uint64_t counters) {
  auto& gauge = counters_marked_[shard];
  if (gauge == nullptr) {
    gauge = &AddGauge(registry_, "fanline_rel_counters_marked",
                      "Counters known to be wrong that wait for their repair, 100 at most",
                      {{"shard", std::to_string(shard)}});
  }
  gauge->Set(static_cast<double>(counters));
}

void PrometheusMetrics::CounterRepaired(int64_t drift) {
  counter_repairs_.Increment();
  counter_drift_.Observe(static_cast<double>(std::abs(drift)));
}

void PrometheusMetrics::CountersSwept(uint64_t users, uint64_t marked) {
  swept_.Increment(static_cast<double>(users));
  swept_wrong_.Increment(static_cast<double>(marked));
}

void PrometheusMetrics::MirrorLagged(Duration lag) { mirror_lag_.Set(Seconds(lag)); }
void PrometheusMetrics::RetriesHeld(uint64_t entries) {
  retry_depth_.Set(static_cast<double>(entries));
}

}  // namespace fanline::reconciler
