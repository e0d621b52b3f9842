#include "dispatcher/prometheus_metrics.h"

#include <chrono>

#include "daemon/observe/metrics.h"

namespace fanline::dispatcher {
namespace {

using daemon::AddCounter;
using daemon::AddGauge;
using daemon::AddHistogram;
using daemon::SecondsBuckets;
using daemon::SizeBuckets;
using prometheus::Registry;

std::array<prometheus::Counter*, kEventKinds> Received(Registry& registry) {
  std::array<prometheus::Counter*, kEventKinds> counters{};
  for (size_t i = 0; i < counters.size(); ++i) {
    counters[i] = &AddCounter(registry, "fanline_events_received_total",
                              "Valid feed events taken from the log, by type",
                              {{"type", NameOf(static_cast<EventKind>(i))}});
  }
  return counters;
}

}  // namespace

PrometheusMetrics::PrometheusMetrics(Registry& registry, const daemon::Log& log)
    : log_(log),
      received_(Received(registry)),
      rejected_(AddCounter(registry, "fanline_events_rejected_total",
                           "Events given to the dead letters")),
      done_(AddCounter(registry, "fanline_events_done_total",
                       "Events stored and with all hints acknowledged")),
      event_seconds_(AddHistogram(registry, "fanline_event_seconds",
                                  "From an event's record to its last acknowledged hint",
                                  SecondsBuckets())),
      transaction_events_(AddHistogram(registry, "fanline_transaction_events",
                                       "Events per transaction", SizeBuckets())),
      hints_(AddCounter(registry, "fanline_hints_appended_total", "Hints acknowledged by Kafka")),
      parked_(daemon::AddParked(registry)),
      lost_(AddCounter(registry, "fanline_events_lost_total",
                       "Offsets cut from the log before they were read: longer retention needed")),
      tails_lost_(daemon::AddTailsLost(registry)),
      open_(AddGauge(registry, "fanline_events_open", "Events received and not finished")),
      events_parked_(AddGauge(registry, "fanline_events_parked",
                              "Open events that wait for a shard that is away")) {}

void PrometheusMetrics::EventReceived(EventKind kind) {
  received_[static_cast<size_t>(kind)]->Increment();
}

void PrometheusMetrics::EventRejected(const std::string& reason) {
  rejected_.Increment();
  log_.Warn("event given to the dead letters", {{"reason", reason}});
}

void PrometheusMetrics::EventDone(Duration since_published) {
  const double seconds = std::chrono::duration<double>(since_published).count();
  done_.Increment();
  event_seconds_.Observe(seconds);
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
