#include "mirror/prometheus_metrics.h"

#include <array>
#include <map>
#include <utility>

#include "daemon/observe/consumed_log.h"
#include "daemon/observe/metrics.h"

namespace fanline::mirror {
namespace {

using daemon::AddCounter;
using daemon::AddCounters;
using daemon::AddGauge;
using daemon::AddHistogram;
using daemon::Seconds;
using daemon::SecondsBuckets;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

class Prometheus final : public daemon::ConsumedLog<Metrics> {
 public:
  Prometheus(Registry& registry, const daemon::Log& log)
      : ConsumedLog(registry, log,
                    "relation events that nobody has read may be gone, and must be sent again; "
                    "what log1 holds is not lost") {}

  void Applied(bool written, Duration since_changed) override {
    applied_[written]->Increment();
    apply_lag_.Observe(Seconds(since_changed));
  }

  void BelowZero(uint64_t counters) override {
    below_zero_.Increment(static_cast<double>(counters));
  }

  void Rejected(const std::string& reason) override {
    rejected_.Increment();
    log_.Warn("given to the dead letters", {{"reason", reason}});
  }

  void OldMessageRejected() override { old_.Increment(); }
  void EventDone() override { done_.Increment(); }

  void Buffered(uint64_t events, uint64_t parked) override {
    open_.Set(static_cast<double>(events));
    events_parked_.Set(static_cast<double>(parked));
  }

  void LogGap(int32_t partition, int64_t from, int64_t to) override {
    lost_.Increment(static_cast<double>(to - from));
    log_.Error("records were cut from a log before they were read",
               {{"partition", partition}, {"from_offset", from}, {"to_offset", to}});
  }

  void Pending(Shard forward, Shard reverse, uint64_t rows, Duration oldest) override {
    PendingGauges& gauges = pending_[{forward, reverse}];
    if (gauges.rows == nullptr) {
      const prometheus::Labels labels{{"shard", std::to_string(forward)},
                                      {"reverse_shard", std::to_string(reverse)}};
      gauges.rows = &AddGauge(registry_, "fanline_rel_log1_pending_rows",
                              "Changes of a shard's log1, for a shard of followers, that this "
                              "mirror holds and that are not done",
                              labels);
      gauges.oldest = &AddGauge(registry_, "fanline_rel_log1_oldest_seconds",
                                "Age of the oldest of them", labels);
    }
    gauges.rows->Set(static_cast<double>(rows));
    gauges.oldest->Set(Seconds(oldest));
  }

 private:
  struct PendingGauges {
    Gauge* rows = nullptr;
    Gauge* oldest = nullptr;
  };

  std::array<Counter*, 2> applied_ = AddCounters(
      registry_, "fanline_rel_apply_total",
      "Changes applied to reverse rows, by whether they were news", "result", {"stale", "applied"});
  Histogram& apply_lag_ =
      AddHistogram(registry_, "fanline_rel_apply_lag_seconds",
                   "From a change to its committed reverse row", SecondsBuckets());
  Counter& below_zero_ =
      AddCounter(registry_, "fanline_rel_counter_negative_total",
                 "Counters of followers found below zero: drift, to be recounted");
  Counter& rejected_ = AddCounter(registry_, "fanline_events_rejected_total",
                                  "Changes and events given to the dead letters");
  Counter& old_ = AddCounter(registry_, "fanline_rel_old_message_rejected_total",
                             "Of these, events older than tombstones are kept");
  Counter& done_ = AddCounter(registry_, "fanline_events_done_total",
                              "Relation events that are in the forward row");
  Counter& lost_ =
      AddCounter(registry_, "fanline_events_lost_total",
                 "Offsets cut from a log before they were read: longer retention needed");
  Gauge& open_ =
      AddGauge(registry_, "fanline_events_open", "Relation events received and not finished");
  Gauge& events_parked_ = AddGauge(registry_, "fanline_events_parked",
                                   "Open events that wait for a shard that is away");
  std::map<std::pair<Shard, Shard>, PendingGauges> pending_;
};

}  // namespace

std::unique_ptr<Metrics> PrometheusMetrics(Registry& registry, const daemon::Log& log) {
  return std::make_unique<Prometheus>(registry, log);
}

}  // namespace fanline::mirror
