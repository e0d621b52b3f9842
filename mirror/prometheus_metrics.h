// The mirror's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the mirror's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <array>
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
  std::array<prometheus::Counter*, 2> applied_ = daemon::AddCounters(
      registry_, "fanline_rel_apply_total",
      "Messages of relation-log applied to reverse rows, by whether they were news", "result",
      {"stale", "applied"});
  prometheus::Histogram& apply_lag_ = daemon::AddHistogram(
      registry_, "fanline_rel_apply_lag_seconds",
      "From a message's append to its committed reverse row", daemon::SecondsBuckets());
  prometheus::Counter& below_zero_ =
      daemon::AddCounter(registry_, "fanline_rel_counter_negative_total",
                         "Counters of followers found below zero: drift, to be recounted");
  prometheus::Counter& given_back_ =
      daemon::AddCounter(registry_, "fanline_rel_given_back_total",
                         "Changes left for later: their shard has been away for long");
  prometheus::Counter& rejected_ = daemon::AddCounter(
      registry_, "fanline_events_rejected_total", "Messages and events given to the dead letters");
  prometheus::Counter& old_ =
      daemon::AddCounter(registry_, "fanline_rel_old_message_rejected_total",
                         "Of these, the ones older than tombstones are kept");
  prometheus::Counter& done_ = daemon::AddCounter(registry_, "fanline_events_done_total",
                                                  "Relation events that are in the forward row");
  prometheus::Counter& lost_ =
      daemon::AddCounter(registry_, "fanline_events_lost_total",
                         "Offsets cut from a log before they were read: longer retention needed");
  prometheus::Counter& tails_lost_ = daemon::AddTailsLost(registry_);
  daemon::ResourceCounters parked_ = daemon::AddParked(registry_);
  prometheus::Gauge& open_ = daemon::AddGauge(registry_, "fanline_events_open",
                                              "Relation events received and not finished");
  prometheus::Gauge& events_parked_ = daemon::AddGauge(
      registry_, "fanline_events_parked", "Open events that wait for a shard that is away");
  std::map<Shard, PendingGauges> pending_;
};

}  // namespace fanline::mirror
