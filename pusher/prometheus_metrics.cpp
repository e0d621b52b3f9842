#include "pusher/prometheus_metrics.h"

namespace fanline::pusher {

using daemon::Seconds;

PrometheusMetrics::PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log,
                                     daemon::Health& health)
    : registry_(registry), log_(log), health_(health) {}

void PrometheusMetrics::HintReceived(bool is_sync) { hints_received_[is_sync]->Increment(); }

void PrometheusMetrics::HintDone(bool is_sync, Duration since_appended) {
  hints_done_[is_sync]->Increment();
  hint_seconds_[is_sync]->Observe(Seconds(since_appended));
}

void PrometheusMetrics::HintQuarantined(const std::string& reason) {
  quarantined_.Increment();
  log_.Error("hint quarantined: its readers' timelines are dropped and will be rebuilt",
             {{"reason", reason}});
}

void PrometheusMetrics::Written(const BatchWritten& written) {
  uint64_t added = 0, already_there = 0, not_live = 0, failed = 0;
  for (const int8_t result : written.results) {
    if (result > 0) added += static_cast<uint64_t>(result);
    already_there += result == 0;
    not_live += result == BatchWritten::kNotLive;
    failed += result == BatchWritten::kKeyFailed;
  }
  const uint64_t by_result[] = {added, already_there, written.pruned, not_live - written.pruned,
                                failed};
  for (size_t i = 0; i < deliveries_.size(); ++i) {
    deliveries_[i]->Increment(static_cast<double>(by_result[i]));
  }
  removed_.Increment(static_cast<double>(written.removed));
  trimmed_.Increment(static_cast<double>(written.trimmed));
  underfilled_.Increment(static_cast<double>(written.underfilled));
  Full(written.full);
  if (failed == 0) return;
  log_.Error("some timelines could not be written; delete such keys and their readers rebuild them",
             {{"timelines", failed}, {"example", written.key_error}});
}

void PrometheusMetrics::Full(uint64_t timelines) {
  full_.Increment(static_cast<double>(timelines));
}

void PrometheusMetrics::BatchSent(uint64_t timelines, uint64_t items) {
  batch_timelines_.Observe(static_cast<double>(timelines));
  batch_items_.Observe(static_cast<double>(items));
}

void PrometheusMetrics::PageRead(uint64_t followers) {
  followers_read_.Increment(static_cast<double>(followers));
}

void PrometheusMetrics::Parked(const std::string& resource) { parked_.Increment(resource); }

void PrometheusMetrics::TakeoverStarted(TakeoverCause cause) {
  takeovers_[static_cast<size_t>(cause)]->Increment();
  if (cause == TakeoverCause::kRolledBack) {
    log_.Error("Redis lost acknowledged writes: the range is claimed again and replayed");
  }
}

void PrometheusMetrics::TailLost(int32_t partition, int64_t position, int64_t end) {
  tails_lost_.Increment();
  log_.Error(
      "a log lost its tail and is read again from its first record; the timelines of its range are "
      "dropped, their readers rebuild them",
      {{"partition", partition}, {"position", position}, {"end", end}});
}

void PrometheusMetrics::RangeContested(Range range, Duration wait) {
  contested_.Increment();
  log_.Warn(
      "another pusher owns a range that the consumer group gave to this one: once or twice, it has "
      "not heard of the change yet; again and again, pushers with another --group (or another "
      "Kafka cluster) serve this installation: all must have the same",
      {{"range", range}, {"waiting_seconds", Seconds(wait)}});
}

void PrometheusMetrics::RangeReady(int64_t replayed_hints, uint64_t timelines_dropped) {
  if (replayed_hints > 0) replayed_.Increment(static_cast<double>(replayed_hints));
  dropped_.Increment(static_cast<double>(timelines_dropped));
  if (replayed_hints > 0 || timelines_dropped > 0) {
    log_.Warn("a takeover set timelines right",
              {{"hints_replayed", replayed_hints}, {"timelines_dropped", timelines_dropped}});
  }
}

void PrometheusMetrics::FirstDelivery(int size_class, Duration since_published) {
  first_delivery_[static_cast<size_t>(size_class)]->Observe(Seconds(since_published));
}

void PrometheusMetrics::LastDelivery(int size_class, Duration since_published) {
  last_delivery_[static_cast<size_t>(size_class)]->Observe(Seconds(since_published));
}

void PrometheusMetrics::Holding(const Held& held) {
  hints_open_.Set(static_cast<double>(held.hints));
  units_open_.Set(static_cast<double>(held.units));
  ranges_ready_.Set(static_cast<double>(held.ranges_ready));
  awaiting_upgrade_.Set(static_cast<double>(held.ranges_awaiting_upgrade));
  const bool too_old = held.ranges_awaiting_upgrade > 0;
  if (too_old != (held_.ranges_awaiting_upgrade > 0)) {
    if (too_old) {
      log_.Error(
          "a hint was written by a newer Fanline: upgrade the pushers; its range waits for it",
          {{"reason", held.upgrade_why}});
    }
    health_.SetReady("hint_version", !too_old, "upgrade the pushers: " + held.upgrade_why);
  }
  units_parked_.Set(static_cast<double>(held.units_parked));
  hints_parked_.Set(static_cast<double>(held.hints_parked));
  hints_span_.Set(static_cast<double>(held.longest_span));
  for (size_t i = 0; i < kPauseCauses; ++i) {
    ranges_paused_[i]->Set(static_cast<double>(held.ranges_paused[i]));
    const bool is_normal = static_cast<PauseCause>(i) == PauseCause::kBuffered;
    if (is_normal || held.ranges_paused[i] <= held_.ranges_paused[i]) continue;
    log_.Error(
        "a range is paused, for all its authors: what waits for a resource that is away "
        "has reached its bound",
        {{"bound", kPauseCauseNames[i]},
         {"hints_parked", held.hints_parked},
         {"longest_span", held.longest_span}});
  }
  held_ = held;
}

}  // namespace fanline::pusher
