#include "mirror/prometheus_metrics.h"

#include <chrono>

#include "daemon/observe/metrics.h"

namespace fanline::mirror {
namespace {

using daemon::AddCounter;
using daemon::AddGauge;
using daemon::AddHistogram;
using prometheus::Registry;

prometheus::Counter& ApplyTotal(Registry& registry, const std::string& result) {
  return AddCounter(registry, "fanline_rel_apply_total",
                    "Messages of relation-log applied to reverse rows, by whether they were news",
                    {{"result", result}});
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

PrometheusMetrics::PrometheusMetrics(Registry& registry, const daemon::Log& log)
    : registry_(registry),
      log_(log),
      applied_(ApplyTotal(registry, "applied")),
      stale_(ApplyTotal(registry, "stale")),
      apply_lag_(AddHistogram(registry, "fanline_rel_apply_lag_seconds",
                              "From a message's append to its committed reverse row",
                              daemon::SecondsBuckets())),
      below_zero_(AddCounter(registry, "fanline_rel_counter_negative_total",
                             "Counters of followers found below zero: drift, to be recounted")),
      given_back_(AddCounter(registry, "fanline_rel_given_back_total",
                             "Changes left for later: their shard has been away for long")),
      rejected_(AddCounter(registry, "fanline_events_rejected_total",
                           "Messages and events given to the dead letters")),
      old_(AddCounter(registry, "fanline_rel_old_message_rejected_total",
                      "Of these, the ones older than tombstones are kept")),
      done_(AddCounter(registry, "fanline_events_done_total",
                       "Relation events that are in the forward row")),
      lost_(AddCounter(registry, "fanline_events_lost_total",
                       "Offsets cut from a log before they were read: longer retention needed")),
      tails_lost_(daemon::AddTailsLost(registry)),
      parked_(daemon::AddParked(registry)),
      open_(AddGauge(registry, "fanline_events_open", "Relation events received and not finished")),
      events_parked_(AddGauge(registry, "fanline_events_parked",
                              "Open events that wait for a shard that is away")) {}

void PrometheusMetrics::Applied(bool written, Duration since_appended) {
  (written ? applied_ : stale_).Increment();
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
    gauges.rows =
        &AddGauge(registry_, "fanline_rel_log1_pending_rows",
                  "Changes of a shard that this mirror relays and that are not done", labels);
    gauges.oldest = &AddGauge(registry_, "fanline_rel_log1_oldest_seconds",
                              "Age of the oldest of them", labels);
  }
  gauges.rows->Set(static_cast<double>(rows));
  gauges.oldest->Set(Seconds(oldest));
}

}  // namespace fanline::mirror
