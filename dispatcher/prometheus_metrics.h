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
  prometheus::Registry& registry_;
  const daemon::Log& log_;
  std::array<prometheus::Counter*, kEventKinds> received_{};  // by EventKind
  prometheus::Counter& rejected_ = daemon::AddCounter(registry_, "fanline_events_rejected_total",
                                                      "Events given to the dead letters");
  prometheus::Counter& done_ = daemon::AddCounter(registry_, "fanline_events_done_total",
                                                  "Events stored and with all hints acknowledged");
  prometheus::Histogram& event_seconds_ = daemon::AddHistogram(
      registry_, "fanline_event_seconds", "From an event's record to its last acknowledged hint",
      daemon::SecondsBuckets());
  prometheus::Histogram& transaction_events_ = daemon::AddHistogram(
      registry_, "fanline_transaction_events", "Events per transaction", daemon::SizeBuckets());
  prometheus::Counter& hints_ =
      daemon::AddCounter(registry_, "fanline_hints_appended_total", "Hints acknowledged by Kafka");
  daemon::ResourceCounters parked_ = daemon::AddParked(registry_);
  prometheus::Counter& lost_ =
      daemon::AddCounter(registry_, "fanline_events_lost_total",
                         "Offsets cut from the log before they were read: longer retention needed");
  prometheus::Counter& tails_lost_ = daemon::AddTailsLost(registry_);
  prometheus::Gauge& open_ =
      daemon::AddGauge(registry_, "fanline_events_open", "Events received and not finished");
  prometheus::Gauge& events_parked_ = daemon::AddGauge(
      registry_, "fanline_events_parked", "Open events that wait for a shard that is away");
};

}  // namespace fanline::dispatcher
