#include "reconciler/prometheus_metrics.h"

#include <chrono>
#include <cstdlib>

#include "daemon/clock.h"

namespace fanline::reconciler {
namespace {

using daemon::AddGauge;
using daemon::Seconds;
using prometheus::Registry;

constexpr Duration kWarnEvery = std::chrono::seconds(10);

}  // namespace

PrometheusMetrics::PrometheusMetrics(Registry& registry, const daemon::Log& log)
    : registry_(registry), log_(log) {}

void PrometheusMetrics::Matched(Duration from_msg1_to_msg2) {
  pairs_[kMatched]->Increment();
  latency_.Observe(Seconds(from_msg1_to_msg2));
}

void PrometheusMetrics::Early() { pairs_[kEarly]->Increment(); }
void PrometheusMetrics::Duplicate() { pairs_[kDup]->Increment(); }
void PrometheusMetrics::Coalesced() { pairs_[kCoalesced]->Increment(); }
void PrometheusMetrics::TimedOut() { pairs_[kTimeout]->Increment(); }
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
