#include "mirror/prometheus_metrics.h"

namespace fanline::mirror {

using daemon::Seconds;

PrometheusMetrics::PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log)
    : registry_(registry), log_(log) {}

void PrometheusMetrics::Applied(bool written, Duration since_appended) {
  applied_[written]->Increment();
  apply_lag_.Observe(Seconds(since_appended));
}

void PrometheusMetrics::BelowZero(uint64_t counters) {
  below_zero_.Increment(static_cast<double>(counters));
}

void PrometheusMetrics::Rejected(const std::string& reason) {
  rejected_.Increment();
  log_.Warn("given to the dead letters", {{"reason", reason}});
}

void PrometheusMetrics::OldMessageRejected() { old_.Increment(); }
void PrometheusMetrics::EventDone() { done_.Increment(); }

void PrometheusMetrics::Buffered(uint64_t events, uint64_t parked) {
  open_.Set(static_cast<double>(events));
  events_parked_.Set(static_cast<double>(parked));
}

void PrometheusMetrics::Parked(const std::string& resource) { parked_.Increment(resource); }

void PrometheusMetrics::GivenBack(uint64_t changes) {
  given_back_.Increment(static_cast<double>(changes));
}

void PrometheusMetrics::LogGap(int32_t partition, int64_t from, int64_t to) {
  lost_.Increment(static_cast<double>(to - from));
  log_.Error("records were cut from a log before they were read",
             {{"partition", partition}, {"from_offset", from}, {"to_offset", to}});
}

void PrometheusMetrics::TailLost(int32_t partition, int64_t position, int64_t end) {
  tails_lost_.Increment();
  log_.Error(
      "a log lost its tail and is read again from its first record; relation events that nobody "
      "has read may be gone, and must be sent again; what log1 holds is not lost",
      {{"partition", partition}, {"position", position}, {"end", end}});
}

void PrometheusMetrics::Pending(Shard shard, uint64_t rows, Duration oldest) {
  PendingGauges& gauges = pending_[shard];
  if (gauges.rows == nullptr) {
    const prometheus::Labels labels{{"shard", std::to_string(shard)}};
    gauges.rows = &daemon::AddGauge(
        registry_, "fanline_rel_log1_pending_rows",
        "Changes of a shard that this mirror relays and that are not done", labels);
    gauges.oldest = &daemon::AddGauge(registry_, "fanline_rel_log1_oldest_seconds",
                                      "Age of the oldest of them", labels);
  }
  gauges.rows->Set(static_cast<double>(rows));
  gauges.oldest->Set(Seconds(oldest));
}

}  // namespace fanline::mirror
