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
  prometheus::Histogram& latency_;
  prometheus::Counter& matched_;
  prometheus::Counter& early_;
  prometheus::Counter& dup_;
  prometheus::Counter& coalesced_;
  prometheus::Counter& timeout_;
  prometheus::Counter& early_expired_;
  std::array<prometheus::Counter*, 3> retried_;  // by cause
  prometheus::Counter& lost_;
  prometheus::Counter& tails_lost_;
  prometheus::Counter& undecodable_;
  std::array<prometheus::Counter*, 6> checks_;   // by finding
  std::array<prometheus::Counter*, 3> repairs_;  // by kind
  prometheus::Counter& counter_repairs_;
  prometheus::Counter& swept_;
  prometheus::Counter& swept_wrong_;
  prometheus::Histogram& counter_drift_;
  prometheus::Histogram& repair_seconds_;
  prometheus::Counter& withheld_;
  prometheus::Counter& throttled_;
  prometheus::Gauge& pending_;
  prometheus::Gauge& oldest_;
  prometheus::Gauge& commit_lag_;
  prometheus::Gauge& mirror_lag_;
  prometheus::Gauge& retry_depth_;
  std::map<Shard, prometheus::Gauge*> breakers_;
  std::map<Shard, bool> open_;
  std::map<Shard, prometheus::Gauge*> counters_marked_;
  daemon::ResourceCounters parked_;
};

}  // namespace fanline::reconciler
