// The mirror's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the mirror's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <map>

#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "mirror/metrics.h"

namespace fanline::mirror {

class PrometheusMetrics final : public Metrics {
 public:
  // Both outlive this object.
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log);

  void Applied(bool written, Duration since_appended) override;
  void BelowZero(uint64_t counters) override;
  void Rejected(const std::string& reason) override;
  void OldMessageRejected() override;
  void EventDone() override;
  void Buffered(uint64_t events, uint64_t parked) override;
  void Parked(const std::string& resource) override;
  void GivenBack(uint64_t changes) override;
  void LogGap(int32_t partition, int64_t from, int64_t to) override;
  void TailLost(int32_t partition, int64_t position, int64_t end) override;
  void Pending(Shard shard, uint64_t rows, Duration oldest) override;

 private:
  struct PendingGauges {
    prometheus::Gauge* rows = nullptr;
    prometheus::Gauge* oldest = nullptr;
  };

  prometheus::Registry& registry_;
  const daemon::Log& log_;
  prometheus::Counter& applied_;
  prometheus::Counter& stale_;
  prometheus::Histogram& apply_lag_;
  prometheus::Counter& below_zero_;
  prometheus::Counter& given_back_;
  prometheus::Counter& rejected_;
  prometheus::Counter& old_;
  prometheus::Counter& done_;
  prometheus::Counter& lost_;
  prometheus::Counter& tails_lost_;
  daemon::ResourceCounters parked_;
  prometheus::Gauge& open_;
  prometheus::Gauge& events_parked_;
  std::map<Shard, PendingGauges> pending_;
};

}  // namespace fanline::mirror
