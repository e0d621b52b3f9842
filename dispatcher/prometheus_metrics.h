// The dispatcher's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the dispatcher's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <array>

#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "dispatcher/metrics.h"

namespace fanline::dispatcher {

class PrometheusMetrics final : public Metrics {
 public:
  // Both outlive this object.
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log);

  void EventReceived(EventKind kind) override;
  void EventRejected(const std::string& reason) override;
  void EventDone(Duration since_published) override;
  void TransactionSent(uint64_t events) override;
  void HintsAppended(uint64_t hints) override;
  void Parked(const std::string& resource) override;
  void LogGap(int32_t partition, int64_t from, int64_t to) override;
  void TailLost(int32_t partition, int64_t position, int64_t end) override;
  void Buffered(uint64_t events, uint64_t parked) override;

 private:
  const daemon::Log& log_;
  std::array<prometheus::Counter*, kEventKinds> received_;  // by EventKind
  prometheus::Counter& rejected_;
  prometheus::Counter& done_;
  prometheus::Histogram& event_seconds_;
  prometheus::Histogram& transaction_events_;
  prometheus::Counter& hints_;
  daemon::ResourceCounters parked_;
  prometheus::Counter& lost_;
  prometheus::Counter& tails_lost_;
  prometheus::Gauge& open_;
  prometheus::Gauge& events_parked_;
};

}  // namespace fanline::dispatcher
