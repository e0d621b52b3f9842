// The reconciler's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the reconciler's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <array>
#include <map>
#include <string>

#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "reconciler/metrics.h"

namespace fanline::reconciler {

class PrometheusMetrics final : public Metrics {
 public:
  // Both outlive this object.
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log);

  void Matched(Duration from_msg1_to_msg2) override;
  void Early() override;
  void Duplicate() override;
  void Coalesced() override;
  void TimedOut() override;
  void EarlyExpired() override;
  void SentToRetry(RetryCause cause) override;
  void LogGap(int32_t partition, int64_t wanted, int64_t first) override;
  void TailLost(int32_t partition, int64_t position, int64_t end) override;
  void Undecodable(const std::string& why) override;
  void Checked(Finding finding) override;
  void Repaired(RepairKind kind, Duration since) override;
  void WouldRepair(const EdgeKey& edge, const Verdict& verdict) override;
  void Unrepairable(const EdgeKey& edge) override;
  void BreakerOpen(Shard shard, bool open) override;
  void Throttled(Duration waited) override;
  void Parked(const std::string& resource) override;
  void Pending(uint64_t pairs, Duration oldest, uint64_t commit_lag) override;
  void CountersMarked(Shard shard, uint64_t counters) override;
  void CounterRepaired(int64_t drift) override;
  void CountersSwept(uint64_t users, uint64_t marked) override;
  void MirrorLagged(Duration lag) override;
  void RetriesHeld(uint64_t entries) override;

 private:
  prometheus::Registry& registry_;
  const daemon::Log& log_;
  prometheus::Histogram& latency_ = daemon::AddHistogram(
      registry_, "fanline_rel_pair_latency_seconds",
      "From a change's msg1 to its msg2, by the broker's clock", daemon::SecondsBuckets());
  enum PairResult { kMatched, kEarly, kDup, kCoalesced, kTimeout };
  std::array<prometheus::Counter*, 5> pairs_ = daemon::AddCounters(
      registry_, "fanline_rel_pairs_total", "Messages of relation-log, by what became of the pair",
      "result", {"matched", "early", "dup", "coalesced", "timeout"});
  prometheus::Counter& early_expired_ =
      daemon::AddCounter(registry_, "fanline_rel_early_expired_total",
                         "msg2 whose msg1 never came: lost, or a writer unknown to us");
  std::array<prometheus::Counter*, 3> retried_ = daemon::AddCounters(  // by cause
      registry_, "fanline_rel_retries_total", "Pairs given to the retries, to be checked later",
      "cause", {"checks_failed", "too_many", "deferred"});
  prometheus::Counter& lost_ =
      daemon::AddCounter(registry_, "fanline_events_lost_total",
                         "Offsets cut from a log before they were read: longer retention needed");
  prometheus::Counter& tails_lost_ = daemon::AddTailsLost(registry_);
  prometheus::Counter& undecodable_ = daemon::AddCounter(registry_, "fanline_rel_undecodable_total",
                                                         "Records that are no message we know");
  std::array<prometheus::Counter*, 6> checks_ = daemon::AddCounters(  // by finding
      registry_, "fanline_rel_checks_total",
      "Edges whose two rows were compared, by what was found", "outcome",
      {"equal", "stale", "missing", "ahead", "orphan", "corrupt"}, {{"net", "pair"}});
  std::array<prometheus::Counter*, 3> repairs_ = daemon::AddCounters(  // by kind
      registry_, "fanline_rel_repairs_total", "Edges and counters set right, by what it took",
      "kind", {"add", "remove", "bump"}, {{"net", "pair"}});
  prometheus::Counter& counter_repairs_ = daemon::AddCounter(
      registry_, "fanline_rel_repairs_total", "Edges and counters set right, by what it took",
      {{"net", "counter"}, {"kind", "counter"}});
  prometheus::Counter& swept_ =
      daemon::AddCounter(registry_, "fanline_rel_counters_swept_total",
                         "Users whose counters were compared with their rows");
  prometheus::Counter& swept_wrong_ =
      daemon::AddCounter(registry_, "fanline_rel_counters_swept_wrong_total",
                         "Counters that the comparison found wrong");
  prometheus::Histogram& counter_drift_ = daemon::AddHistogram(
      registry_, "fanline_rel_counter_drift",
      "By how much a counter that was repaired had been wrong", daemon::SizeBuckets());
  prometheus::Histogram& repair_seconds_ = daemon::AddHistogram(
      registry_, "fanline_rel_repair_seconds",
      "From the read that found a difference to its repair", daemon::SecondsBuckets());
  prometheus::Counter& withheld_ =
      daemon::AddCounter(registry_, "fanline_rel_repairs_withheld_total",
                         "Repairs not made: a dry run, an open breaker, no version left");
  prometheus::Counter& throttled_ = daemon::AddCounter(
      registry_, "fanline_rel_throttled_seconds_total",
      "Time checks waited for the throttle of their shard", {{"reason", "rate"}});
  prometheus::Gauge& pending_ =
      daemon::AddGauge(registry_, "fanline_rel_pending", "Pairs that wait for their msg2");
  prometheus::Gauge& oldest_ = daemon::AddGauge(registry_, "fanline_rel_oldest_pending_seconds",
                                                "Age of the oldest of them");
  prometheus::Gauge& commit_lag_ =
      daemon::AddGauge(registry_, "fanline_rel_commit_offset_lag",
                       "Records of relation-log that a restart would read again");
  prometheus::Gauge& mirror_lag_ =
      daemon::AddGauge(registry_, "fanline_rel_mirror_lag_seconds",
                       "How far behind the mirror was seen: above the grace no pair is checked");
  prometheus::Gauge& retry_depth_ =
      daemon::AddGauge(registry_, "fanline_rel_retry_depth",
                       "Entries of relation-log.retry held until they are due");
  std::map<Shard, prometheus::Gauge*> breakers_;
  std::map<Shard, bool> open_;
  std::map<Shard, prometheus::Gauge*> counters_marked_;
  daemon::ResourceCounters parked_ = daemon::AddParked(registry_);
};

}  // namespace fanline::reconciler
