// The pusher's metrics in a Prometheus registry, and the one condition of readiness that is the
// pusher's own: "hint_version". docs/metrics.md lists them for operators.
// Called from the pusher's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <array>

#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "fanline/model/size_class.h"
#include "pusher/metrics.h"

namespace fanline::pusher {

class PrometheusMetrics final : public Metrics {
 public:
  // All outlive this object.
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log, daemon::Health& health);

  void HintReceived(bool is_sync) override;
  void HintDone(bool is_sync, Duration since_appended) override;
  void HintQuarantined(const std::string& reason) override;
  void Full(uint64_t timelines) override;
  void Written(const BatchWritten& written) override;
  void BatchSent(uint64_t timelines, uint64_t items) override;
  void PageRead(uint64_t followers) override;
  void Parked(const std::string& resource) override;
  void TakeoverStarted(TakeoverCause cause) override;
  void TailLost(int32_t partition, int64_t position, int64_t end) override;
  void RangeContested(Range range, Duration wait) override;
  void RangeReady(int64_t replayed_hints, uint64_t timelines_dropped) override;
  void FirstDelivery(int size_class, Duration since_published) override;
  void LastDelivery(int size_class, Duration since_published) override;
  void Holding(const Held& held) override;

 private:
  using BySize = std::array<prometheus::Histogram*, kSizeClassCount>;

  const daemon::Log& log_;
  daemon::Health& health_;
  std::array<prometheus::Counter*, 2> hints_received_;  // post, sync
  std::array<prometheus::Counter*, 2> hints_done_;
  prometheus::Counter& quarantined_;
  std::array<prometheus::Histogram*, 2> hint_seconds_;
  std::array<prometheus::Counter*, 5> deliveries_;  // by result
  prometheus::Counter& removed_;
  prometheus::Counter& trimmed_;
  prometheus::Counter& underfilled_;
  prometheus::Counter& full_;
  prometheus::Histogram& batch_timelines_;
  prometheus::Histogram& batch_items_;
  prometheus::Counter& followers_read_;
  daemon::ResourceCounters parked_;
  std::array<prometheus::Counter*, 4> takeovers_;  // by TakeoverCause
  prometheus::Counter& contested_;
  prometheus::Counter& replayed_;
  prometheus::Counter& dropped_;
  prometheus::Counter& tails_lost_;
  BySize first_delivery_;
  BySize last_delivery_;
  prometheus::Gauge& hints_open_;
  prometheus::Gauge& units_open_;
  prometheus::Gauge& ranges_ready_;
  prometheus::Gauge& awaiting_upgrade_;
  prometheus::Gauge& units_parked_;
  prometheus::Gauge& hints_parked_;
  prometheus::Gauge& hints_span_;
  std::array<prometheus::Gauge*, kPauseCauses> ranges_paused_;  // by PauseCause
  Held held_;                                                   // as told last
};

}  // namespace fanline::pusher
