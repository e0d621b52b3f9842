#include "pusher/prometheus_metrics.h"

#include <chrono>

#include "daemon/observe/metrics.h"

namespace fanline::pusher {
namespace {

using daemon::AddCounter;
using daemon::AddGauge;
using daemon::AddHistogram;
using daemon::SecondsBuckets;
using daemon::SizeBuckets;
using prometheus::Labels;
using prometheus::Registry;

constexpr const char* kHintKinds[] = {"post", "sync"};
constexpr const char* kCauses[] = {"assigned", "session_lost", "fenced", "rolled_back"};

constexpr const char* kDeliveryResults[] = {"added", "already_there", "not_live_index",
                                            "not_live_script", "key_failed"};
constexpr const char* kPauseCauseNames[] = {"buffered", "parked", "span"};

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// One metric of a family for each value of a label.
template <size_t kCount, typename Add>
auto ForEach(const char* label, const char* const (&values)[kCount], Add add) {
  std::array<decltype(&add({})), kCount> metrics{};
  for (size_t i = 0; i < kCount; ++i) metrics[i] = &add({{label, values[i]}});
  return metrics;
}

template <size_t kCount>
auto Counters(Registry& registry, const std::string& name, const std::string& help,
              const char* label, const char* const (&values)[kCount]) {
  return ForEach(
      label, values, [&](const Labels& labels) -> auto& {
        return AddCounter(registry, name, help, labels);
      });
}

template <size_t kCount>
auto Seconds(Registry& registry, const std::string& name, const std::string& help,
             const char* label, const char* const (&values)[kCount]) {
  return ForEach(
      label, values, [&](const Labels& labels) -> auto& {
        return AddHistogram(registry, name, help, SecondsBuckets(), labels);
      });
}

auto RangesPaused(Registry& registry) {
  return ForEach(
      "cause", kPauseCauseNames, [&](const Labels& labels) -> auto& {
        return AddGauge(registry, "fanline_ranges_paused",
                        "Ranges whose log is not read for now, by the bound they have reached",
                        labels);
      });
}

}  // namespace

PrometheusMetrics::PrometheusMetrics(Registry& registry, const daemon::Log& log,
                                     daemon::Health& health)
    : log_(log),
      health_(health),
      hints_received_(Counters(registry, "fanline_hints_received_total", "Hints taken from the log",
                               "kind", kHintKinds)),
      hints_done_(Counters(registry, "fanline_hints_done_total",
                           "Hints whose every write is acknowledged", "kind", kHintKinds)),
      quarantined_(AddCounter(registry, "fanline_hints_quarantined_total",
                              "Hints given to the dead letters")),
      hint_seconds_(Seconds(registry, "fanline_hint_seconds",
                            "From a hint's append to its last acknowledged write", "kind",
                            kHintKinds)),
      deliveries_(Counters(registry, "fanline_deliveries_total",
                           "Posts for timelines by result: added, already_there, not_live_index "
                           "(pruned by the live index), not_live_script (the key was gone), "
                           "key_failed",
                           "result", kDeliveryResults)),
      removed_(AddCounter(registry, "fanline_items_removed_total",
                          "Items taken out of timelines: deleted, hidden, unfollowed")),
      trimmed_(AddCounter(registry, "fanline_timelines_trimmed_total",
                          "Timelines cut back to the window, their floor raised")),
      underfilled_(AddCounter(registry, "fanline_timelines_fell_short_total",
                              "Timelines deleted because removals left less than half a window")),
      full_(AddCounter(registry, "fanline_timelines_dropped_full_total",
                       "Timelines deleted because a full Redis let them take no more")),
      batch_timelines_(AddHistogram(registry, "fanline_batch_timelines",
                                    "Timelines per write batch", SizeBuckets())),
      batch_items_(AddHistogram(registry, "fanline_batch_items",
                                "Items per write batch; beside fanline_batch_timelines it tells "
                                "how many posts meet in one write",
                                SizeBuckets())),
      followers_read_(
          AddCounter(registry, "fanline_followers_read_total", "Follower rows read for fan-out")),
      parked_(daemon::AddParked(registry)),
      takeovers_(Counters(registry, "fanline_takeovers_total",
                          "Ranges claimed, by cause; rolled_back is a Redis that lost writes",
                          "cause", kCauses)),
      contested_(AddCounter(registry, "fanline_ranges_contested_total",
                            "Times another pusher was found to own a range of ours")),
      replayed_(AddCounter(registry, "fanline_hints_replayed_total",
                           "Hints behind the committed offset that a takeover asked for again")),
      dropped_(AddCounter(registry, "fanline_timelines_dropped_total",
                          "Timelines deleted by takeovers because their position was unknown")),
      tails_lost_(daemon::AddTailsLost(registry)),
      first_delivery_(
          Seconds(registry, "fanline_publish_to_first_delivery_seconds",
                  "From the event's record to the first live timeline that has the post (sampled)",
                  "followers", kSizeClasses)),
      last_delivery_(
          Seconds(registry, "fanline_publish_to_last_delivery_seconds",
                  "From the event's record until every live timeline has the post (sampled)",
                  "followers", kSizeClasses)),
      hints_open_(AddGauge(registry, "fanline_hints_open", "Hints received and not finished")),
      units_open_(AddGauge(registry, "fanline_units_open", "Units of work under way")),
      ranges_ready_(AddGauge(registry, "fanline_ranges_ready", "Ranges owned and claimed")),
      awaiting_upgrade_(AddGauge(registry, "fanline_ranges_awaiting_upgrade",
                                 "Ranges that stand at a hint only a newer pusher can read")),
      units_parked_(AddGauge(registry, "fanline_units_parked",
                             "Units of work that wait for a resource that is away")),
      hints_parked_(AddGauge(registry, "fanline_hints_parked",
                             "Hints of these units, and those behind them in their lanes")),
      hints_span_(AddGauge(registry, "fanline_hints_span",
                           "Hints from the oldest unfinished one to the newest received, of the "
                           "range with most: what its next owner replays")),
      ranges_paused_(RangesPaused(registry)) {}

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
