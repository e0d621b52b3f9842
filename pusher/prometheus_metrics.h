// The pusher's metrics in a Prometheus registry, and the one readiness condition that is the
// pusher's own: "hint_version". docs/metrics.md lists them for operators. Called from the pusher's
// thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <array>

#include "daemon/observe/consumed_log.h"
#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "fanline/model/size_class.h"
#include "pusher/base/metrics.h"

namespace fanline::pusher {

class PrometheusMetrics final : public daemon::ConsumedLog<Metrics> {
 public:
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log, daemon::Health& health)
      : ConsumedLog(registry, log,
                    "the timelines of its range are dropped, their readers rebuild them"),
        health_(health) {}

  void HintReceived(bool is_sync) override { hints_received_[is_sync]->Increment(); }

  void HintDone(bool is_sync, Duration since_appended) override {
    hints_done_[is_sync]->Increment();
    Observe(*hint_seconds_[is_sync], since_appended);
  }

  void HintQuarantined(const std::string& reason) override {
    quarantined_.Increment();
    log_.Error("hint quarantined: its readers' timelines are dropped and will be rebuilt",
               {{"reason", reason}});
  }

  void Written(const BatchWritten& written) override {
    uint64_t added = 0, already_there = 0, not_live = 0, failed = 0;
    for (const int8_t result : written.results) {
      if (result > 0) added += static_cast<uint64_t>(result);
      already_there += result == 0;
      not_live += result == BatchWritten::kNotLive;
      failed += result == BatchWritten::kKeyFailed;
    }
    const uint64_t by_result[] = {added, already_there, not_live, failed};
    for (size_t i = 0; i < deliveries_.size(); ++i) {
      Add(*deliveries_[i], by_result[i]);
    }
    Add(removed_, written.removed);
    Add(trimmed_, written.trimmed);
    Add(underfilled_, written.underfilled);
    Full(written.full);
    if (failed == 0) return;
    log_.Error(
        "some timelines could not be written; delete such keys and their readers rebuild them",
        {{"timelines", failed}, {"example", written.key_error}});
  }

  void Full(uint64_t timelines) override { Add(full_, timelines); }

  void WriteFenced() override { fenced_.Increment(); }

  void BatchSent(uint64_t timelines, uint64_t items) override {
    Observe(batch_timelines_, timelines);
    Observe(batch_items_, items);
  }

  void PageRead(uint64_t followers) override { Add(followers_read_, followers); }

  void LookedUp(bool listed) override { looked_up_[listed ? 0 : 1]->Increment(); }

  void PassedOver(uint64_t followers) override { Add(passed_over_, followers); }

  void UnitTakenUp(bool went_on) override { taken_up_[went_on ? 0 : 1]->Increment(); }

  void AuthorWeighed() override { weighed_.Increment(); }

  void TakeoverStarted(TakeoverCause cause) override {
    takeovers_[static_cast<size_t>(cause)]->Increment();
  }

  void RedisLost(Range range, RedisLoss loss) override {
    losses_[static_cast<size_t>(loss)]->Increment();
    log_.Error(loss == RedisLoss::kBehind
                   ? "Redis lost what it had acknowledged of a range: its hints are applied again"
                   : "Redis lost what it had of a range: its timelines are dropped, and their "
                     "readers rebuild them",
               {{"range", range}, {"cause", kLossNames[static_cast<size_t>(loss)]}});
  }

  void RangeContested(Range range, Duration wait) override {
    contested_.Increment();
    log_.Warn(
        "another pusher owns a range that the consumer group gave to this one: once or twice, it "
        "has not heard of the change yet; again and again, pushers with another --group (or "
        "another Kafka cluster) serve this installation: all must have the same",
        {{"range", range}, {"waiting_seconds", daemon::Seconds(wait)}});
  }

  void RangeReady(int64_t replayed_hints, uint64_t timelines_dropped) override {
    Add(replayed_, replayed_hints);
    Add(dropped_, timelines_dropped);
    if (replayed_hints > 0 || timelines_dropped > 0) {
      log_.Warn("a takeover set timelines right",
                {{"hints_replayed", replayed_hints}, {"timelines_dropped", timelines_dropped}});
    }
  }

  void FirstDelivery(int size_class, Duration since_published) override {
    Observe(*first_delivery_[static_cast<size_t>(size_class)], since_published);
  }

  void LastDelivery(int size_class, Duration since_published) override {
    Observe(*last_delivery_[static_cast<size_t>(size_class)], since_published);
  }

  void TracedDelivery(const Traced& traced) override {
    log_.Info("post delivered to every live timeline",
              {{"trace_id", traced.trace_id},
               {"post", ToString(traced.post)},
               {"author", ToString(traced.author)},
               {"followers", traced.followers},
               {"seconds", daemon::Seconds(traced.since_published)}});
  }

  void Holding(const Held& held) override {
    Set(hints_open_, held.hints);
    Set(units_open_, held.units);
    Set(ranges_ready_, held.ranges_ready);
    Set(highest_epoch_, held.highest_epoch);
    if (held.ranges != held_.ranges || held.ranges_ready != held_.ranges_ready) {
      health_.SetReady("ranges", held.ranges_ready == held.ranges,
                       std::to_string(held.ranges - held.ranges_ready) + " of " +
                           std::to_string(held.ranges) +
                           " ranges are not taken over yet; what they wait for is in the log");
    }
    Set(awaiting_upgrade_, held.ranges_awaiting_upgrade);
    const bool too_old = held.ranges_awaiting_upgrade > 0;
    if (too_old != (held_.ranges_awaiting_upgrade > 0)) {
      if (too_old) {
        log_.Error(
            "a hint was written by a newer Fanline: upgrade the pushers; its range waits for it",
            {{"reason", held.upgrade_why}});
      }
      health_.SetReady("hint_version", !too_old, "upgrade the pushers: " + held.upgrade_why);
    }
    Set(live_readers_, held.live_readers);
    Set(lists_, held.lists);
    Set(list_bytes_, held.list_bytes);
    Set(units_parked_, held.units_parked);
    Set(units_awaiting_turns_, held.units_awaiting_turns);
    Set(hints_parked_, held.hints_parked);
    Set(hints_span_, held.longest_span);
    for (size_t i = 0; i < kPauseCauses; ++i) {
      Set(*ranges_paused_[i], held.ranges_paused[i]);
      const bool is_normal = static_cast<PauseCause>(i) == PauseCause::kBuffered;
      if (is_normal || held.ranges_paused[i] <= held_.ranges_paused[i]) continue;
      log_.Error(
          "a range is paused, for all its authors: what waits for a resource that is away, "
          "or too slow for what comes, has reached its bound",
          {{"bound", kPauseCauseNames[i]},
           {"hints_parked", held.hints_parked},
           {"longest_span", held.longest_span}});
    }
    held_ = held;
  }

 private:
  static constexpr const char* kLossNames[] = {"behind", "older_than_log", "missing", "foreign"};
  static constexpr const char* kPauseCauseNames[] = {"buffered", "parked", "span"};
  using BySize = std::array<Histogram*, kSizeClassCount>;

  daemon::Health& health_;
  Counters<2> hints_received_ = AddCounters("fanline_hints_received_total",
                                            "Hints taken from the log", "kind", {"post", "sync"});
  Counters<2> hints_done_ =
      AddCounters("fanline_hints_done_total", "Hints whose every write is acknowledged", "kind",
                  {"post", "sync"});
  Counter& quarantined_ =
      AddCounter("fanline_hints_quarantined_total", "Hints given to the dead letters");
  std::array<Histogram*, 2> hint_seconds_ =
      AddSeconds("fanline_hint_seconds", "From a hint's append to its last acknowledged write",
                 "kind", {"post", "sync"});
  Counters<4> deliveries_ = AddCounters(
      "fanline_deliveries_total",
      "Posts for timelines that were held to be live, by result: added, already_there, not_live "
      "(the key was gone), key_failed",
      "result", {"added", "already_there", "not_live", "key_failed"});
  Counter& removed_ = AddCounter("fanline_items_removed_total",
                                 "Items taken out of timelines: deleted, hidden, unfollowed");
  Counter& trimmed_ = AddCounter("fanline_timelines_trimmed_total",
                                 "Timelines cut back to the window, their floor raised");
  Counter& underfilled_ =
      AddCounter("fanline_timelines_fell_short_total",
                 "Timelines deleted because removals left less than half a window");
  Counter& full_ = AddCounter("fanline_timelines_dropped_full_total",
                              "Timelines deleted because a full Redis let them take no more");
  Counter& fenced_ = AddCounter("fanline_fenced_writes_total",
                                "Writes that Redis refused: another pusher has claimed the range");
  Histogram& batch_timelines_ = AddSizes("fanline_batch_timelines", "Timelines per write batch");
  Histogram& batch_items_ =
      AddSizes("fanline_batch_items",
               "Items per write batch; beside fanline_batch_timelines it tells "
               "how many posts meet in one write");
  Counter& followers_read_ =
      AddCounter("fanline_followers_read_total", "Follower rows read for fan-out");
  Counters<2> looked_up_ =
      AddCounters("fanline_follower_pages_total", "Pages of followers by where they were found",
                  "source", {"list", "shard"});
  Counter& passed_over_ =
      AddCounter("fanline_followers_not_live_total",
                 "Followers passed over in fan-out: the pusher knows that they are not live");
  Counter& weighed_ = AddCounter("fanline_authors_weighed_total",
                                 "Estimates of an author's live followers written down");
  Counters<2> taken_up_ = AddCounters(
      "fanline_units_taken_up_total",
      "Units that an owner before had begun, by where this one went on", "from", {"page", "start"});
  Counters<4> takeovers_ = AddCounters(
      "fanline_takeovers_total",
      "Ranges claimed, by what asked for it; a loss shows in "
      "fanline_redis_losses_total",
      "cause", {"assigned", "session_lost", "fenced", "rolled_back"});  // by TakeoverCause
  Counters<4> losses_ = AddCounters(                                    // by RedisLoss
      "fanline_redis_losses_total",
      "Ranges of which Redis had less than it had acknowledged, by what pos: was found to be",
      "cause", kLossNames);
  Counter& contested_ = AddCounter("fanline_ranges_contested_total",
                                   "Times another pusher was found to own a range of ours");
  Counter& replayed_ =
      AddCounter("fanline_hints_replayed_total",
                 "Hints behind the committed offset that a takeover asked for again");
  Counter& dropped_ =
      AddCounter("fanline_timelines_dropped_total",
                 "Timelines deleted by takeovers because their position was unknown");
  BySize first_delivery_ =
      AddSeconds("fanline_publish_to_first_delivery_seconds",
                 "From the event's record to the first live timeline that has the post (sampled)",
                 "followers", kSizeClasses);
  BySize last_delivery_ =
      AddSeconds("fanline_publish_to_last_delivery_seconds",
                 "From the event's record until every live timeline has the post (sampled)",
                 "followers", kSizeClasses);
  Gauge& hints_open_ = AddGauge("fanline_hints_open", "Hints received and not finished");
  Gauge& units_open_ =
      AddGauge("fanline_units_open", "Units of work that are begun and not finished");
  Gauge& ranges_ready_ = AddGauge("fanline_ranges_ready", "Ranges owned and claimed");
  Gauge& highest_epoch_ =
      AddGauge("fanline_highest_epoch",
               "Highest owner epoch of these ranges: each takeover of a range raises its epoch");
  Gauge& awaiting_upgrade_ = AddGauge("fanline_ranges_awaiting_upgrade",
                                      "Ranges that stand at a hint only a newer pusher can read");
  Gauge& live_readers_ =
      AddGauge("fanline_live_readers", "Readers held to be live, of these ranges");
  Gauge& lists_ = AddGauge("fanline_follower_lists", "Authors' lists of followers held, by range");
  Gauge& list_bytes_ = AddGauge("fanline_follower_lists_bytes", "Bytes that these lists take");
  Gauge& units_parked_ =
      AddGauge("fanline_units_parked", "Units of work that wait for a resource that is away");
  Gauge& units_awaiting_turns_ =
      AddGauge("fanline_units_awaiting_turns",
               "Units of authors with many followers that wait for their turn");
  Gauge& hints_parked_ = AddGauge("fanline_hints_parked",
                                  "Hints of these units, and those behind them in their lanes");
  Gauge& hints_span_ =
      AddGauge("fanline_hints_span",
               "Hints from the oldest unfinished one to the newest received, of the "
               "range with most: what its next owner replays");
  std::array<Gauge*, kPauseCauses> ranges_paused_ = AddForEach(  // by PauseCause
      "cause", kPauseCauseNames, [this](const auto& labels) -> auto& {
        return AddGauge("fanline_ranges_paused",
                        "Ranges whose log is not read for now, by the bound they have reached",
                        labels);
      });
  Held held_;  // the last report
};

}  // namespace fanline::pusher
