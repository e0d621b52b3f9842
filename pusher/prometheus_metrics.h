// The pusher's metrics in a Prometheus registry, and the one condition of readiness that is the
// pusher's own: "hint_version". docs/metrics.md lists them for operators.
// Called from the pusher's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <array>

#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "fanline/model/size_class.h"
#include "pusher/metrics.h"

namespace fanline::pusher {

inline constexpr const char* kPauseCauseNames[] = {"buffered", "parked", "span"};

class PrometheusMetrics final : public Metrics {
 public:
  // All outlive this object.
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log, daemon::Health& health);

  void HintReceived(bool is_sync) override;
  void HintDone(bool is_sync, Duration since_appended) override;
  void HintQuarantined(const std::string& reason) override;
  void Full(uint64_t timelines) override;
  void Written(const BatchWritten& written) override;
  void BatchSent(uint64_t timelines, uint64_t items) override;
  void PageRead(uint64_t followers) override;
  void Parked(const std::string& resource) override;
  void TakeoverStarted(TakeoverCause cause) override;
  void TailLost(int32_t partition, int64_t position, int64_t end) override;
  void RangeContested(Range range, Duration wait) override;
  void RangeReady(int64_t replayed_hints, uint64_t timelines_dropped) override;
  void FirstDelivery(int size_class, Duration since_published) override;
  void LastDelivery(int size_class, Duration since_published) override;
  void Holding(const Held& held) override;

 private:
  using BySize = std::array<prometheus::Histogram*, kSizeClassCount>;

  prometheus::Registry& registry_;
  const daemon::Log& log_;
  daemon::Health& health_;
  std::array<prometheus::Counter*, 2> hints_received_ =
      daemon::AddCounters(registry_, "fanline_hints_received_total", "Hints taken from the log",
                          "kind", {"post", "sync"});  // post, sync
  std::array<prometheus::Counter*, 2> hints_done_ =
      daemon::AddCounters(registry_, "fanline_hints_done_total",
                          "Hints whose every write is acknowledged", "kind", {"post", "sync"});
  prometheus::Counter& quarantined_ = daemon::AddCounter(
      registry_, "fanline_hints_quarantined_total", "Hints given to the dead letters");
  std::array<prometheus::Histogram*, 2> hint_seconds_ = daemon::AddSeconds(
      registry_, "fanline_hint_seconds", "From a hint's append to its last acknowledged write",
      "kind", {"post", "sync"});
  std::array<prometheus::Counter*, 5> deliveries_ = daemon::AddCounters(
      registry_, "fanline_deliveries_total",
      "Posts for timelines by result: added, already_there, not_live_index "
      "(pruned by the live index), not_live_script (the key was gone), "
      "key_failed",
      "result",
      {"added", "already_there", "not_live_index", "not_live_script", "key_failed"});  // by result
  prometheus::Counter& removed_ =
      daemon::AddCounter(registry_, "fanline_items_removed_total",
                         "Items taken out of timelines: deleted, hidden, unfollowed");
  prometheus::Counter& trimmed_ =
      daemon::AddCounter(registry_, "fanline_timelines_trimmed_total",
                         "Timelines cut back to the window, their floor raised");
  prometheus::Counter& underfilled_ =
      daemon::AddCounter(registry_, "fanline_timelines_fell_short_total",
                         "Timelines deleted because removals left less than half a window");
  prometheus::Counter& full_ =
      daemon::AddCounter(registry_, "fanline_timelines_dropped_full_total",
                         "Timelines deleted because a full Redis let them take no more");
  prometheus::Histogram& batch_timelines_ = daemon::AddHistogram(
      registry_, "fanline_batch_timelines", "Timelines per write batch", daemon::SizeBuckets());
  prometheus::Histogram& batch_items_ =
      daemon::AddHistogram(registry_, "fanline_batch_items",
                           "Items per write batch; beside fanline_batch_timelines it tells "
                           "how many posts meet in one write",
                           daemon::SizeBuckets());
  prometheus::Counter& followers_read_ = daemon::AddCounter(
      registry_, "fanline_followers_read_total", "Follower rows read for fan-out");
  daemon::ResourceCounters parked_ = daemon::AddParked(registry_);
  std::array<prometheus::Counter*, 4> takeovers_ = daemon::AddCounters(
      registry_, "fanline_takeovers_total",
      "Ranges claimed, by cause; rolled_back is a Redis that lost writes", "cause",
      {"assigned", "session_lost", "fenced", "rolled_back"});  // by TakeoverCause
  prometheus::Counter& contested_ =
      daemon::AddCounter(registry_, "fanline_ranges_contested_total",
                         "Times another pusher was found to own a range of ours");
  prometheus::Counter& replayed_ =
      daemon::AddCounter(registry_, "fanline_hints_replayed_total",
                         "Hints behind the committed offset that a takeover asked for again");
  prometheus::Counter& dropped_ =
      daemon::AddCounter(registry_, "fanline_timelines_dropped_total",
                         "Timelines deleted by takeovers because their position was unknown");
  prometheus::Counter& tails_lost_ = daemon::AddTailsLost(registry_);
  BySize first_delivery_ = daemon::AddSeconds(
      registry_, "fanline_publish_to_first_delivery_seconds",
      "From the event's record to the first live timeline that has the post (sampled)", "followers",
      kSizeClasses);
  BySize last_delivery_ =
      daemon::AddSeconds(registry_, "fanline_publish_to_last_delivery_seconds",
                         "From the event's record until every live timeline has the post (sampled)",
                         "followers", kSizeClasses);
  prometheus::Gauge& hints_open_ =
      daemon::AddGauge(registry_, "fanline_hints_open", "Hints received and not finished");
  prometheus::Gauge& units_open_ =
      daemon::AddGauge(registry_, "fanline_units_open", "Units of work under way");
  prometheus::Gauge& ranges_ready_ =
      daemon::AddGauge(registry_, "fanline_ranges_ready", "Ranges owned and claimed");
  prometheus::Gauge& awaiting_upgrade_ =
      daemon::AddGauge(registry_, "fanline_ranges_awaiting_upgrade",
                       "Ranges that stand at a hint only a newer pusher can read");
  prometheus::Gauge& units_parked_ = daemon::AddGauge(
      registry_, "fanline_units_parked", "Units of work that wait for a resource that is away");
  prometheus::Gauge& hints_parked_ =
      daemon::AddGauge(registry_, "fanline_hints_parked",
                       "Hints of these units, and those behind them in their lanes");
  prometheus::Gauge& hints_span_ =
      daemon::AddGauge(registry_, "fanline_hints_span",
                       "Hints from the oldest unfinished one to the newest received, of the "
                       "range with most: what its next owner replays");
  std::array<prometheus::Gauge*, kPauseCauses> ranges_paused_ =
      daemon::AddForEach(  // by PauseCause
          "cause", kPauseCauseNames, [this](const auto& labels) -> auto& {
            return daemon::AddGauge(
                registry_, "fanline_ranges_paused",
                "Ranges whose log is not read for now, by the bound they have reached", labels);
          });
  Held held_;  // as reported last
};

}  // namespace fanline::pusher
