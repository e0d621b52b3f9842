#include "dispatcher/prometheus_metrics.h"

namespace fanline::dispatcher {

PrometheusMetrics::PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log)
    : registry_(registry), log_(log) {
  for (size_t i = 0; i < received_.size(); ++i) {
    received_[i] = &daemon::AddCounter(registry, "fanline_events_received_total",
                                       "Valid feed events taken from the log, by type",
                                       {{"type", NameOf(static_cast<EventKind>(i))}});
  }
}

void PrometheusMetrics::EventReceived(EventKind kind) {
  received_[static_cast<size_t>(kind)]->Increment();
}

void PrometheusMetrics::EventRejected(const std::string& reason) {
  rejected_.Increment();
  log_.Warn("event given to the dead letters", {{"reason", reason}});
}

void PrometheusMetrics::EventDone(Duration since_published) {
  done_.Increment();
  event_seconds_.Observe(daemon::Seconds(since_published));
}

void PrometheusMetrics::TransactionSent(uint64_t events) {
  transaction_events_.Observe(static_cast<double>(events));
}

void PrometheusMetrics::HintsAppended(uint64_t hints) {
  hints_.Increment(static_cast<double>(hints));
}

void PrometheusMetrics::Parked(const std::string& resource) { parked_.Increment(resource); }

void PrometheusMetrics::LogGap(int32_t partition, int64_t from, int64_t to) {
  lost_.Increment(static_cast<double>(to - from));
  log_.Error("events were cut from the log before they were read; publish them again",
             {{"partition", partition}, {"from_offset", from}, {"to_offset", to}});
}

void PrometheusMetrics::TailLost(int32_t partition, int64_t position, int64_t end) {
  tails_lost_.Increment();
  log_.Error(
      "a log lost its tail and is read again from its first record; events that nobody has read "
      "may be gone: publish again what was published since",
      {{"partition", partition}, {"position", position}, {"end", end}});
}

void PrometheusMetrics::Buffered(uint64_t events, uint64_t parked) {
  open_.Set(static_cast<double>(events));
  events_parked_.Set(static_cast<double>(parked));
}

}  // namespace fanline::dispatcher
