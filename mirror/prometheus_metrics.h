// The mirror's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the mirror's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <string>

#include "daemon/observe/consumed_log.h"
#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "mirror/metrics.h"

namespace fanline::mirror {

class PrometheusMetrics final : public daemon::ConsumedLog<Metrics> {
 public:
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log)
      : ConsumedLog(registry, log,
                    "relation events that nobody has read may be gone, and must be sent again; "
                    "what log1 holds is not lost") {}

  void Applied(bool written, Duration since_changed) override {
    applied_[written]->Increment();
    Observe(apply_lag_, since_changed);
  }

  void BelowZero(uint64_t counters) override { Add(below_zero_, counters); }

  void Rejected(const std::string& reason) override {
    rejected_.Increment();
    log_.Warn("given to the dead letters", {{"reason", reason}});
  }

  void OldMessageRejected() override { old_.Increment(); }
  void EventDone() override { done_.Increment(); }

  void Buffered(uint64_t events, uint64_t parked) override {
    Set(open_, events);
    Set(events_parked_, parked);
  }

  void LogGap(int32_t partition, int64_t from, int64_t to) override {
    Add(lost_, to - from);
    log_.Error("records were cut from a log before they were read",
               {{"partition", partition}, {"from_offset", from}, {"to_offset", to}});
  }

  void Bell(Shard forward, bool rings) override {
    (void)GapsOf(forward);  // 0 is shown, too
    Set(AddGauge("fanline_rel_binlog_connected",
                 "1 while the shard's binary log tells this mirror of changes",
                 {{"shard", std::to_string(forward)}}),
        rings ? 1 : 0);
  }
  void BellLost(Shard forward) override { GapsOf(forward).Increment(); }
  void BellSilent(Shard forward) override {
    GapsOf(forward).Increment();
    log_.Warn(
        "the binary log did not tell of a change that polls had found a second before: it is "
        "another server's, leaves changes out (sql_log_bin, filters) or lags; polls go on, and it "
        "is read anew",
        {{"shard", static_cast<uint64_t>(forward)}});
  }
  void HeardRow(Duration since_written) override {
    heard_[1]->Increment();
    Observe(binlog_lag_, since_written);
  }
  void HeardInVain(uint64_t rows) override { Add(*heard_[0], rows); }

  void Pending(Shard forward, Shard reverse, uint64_t rows, Duration oldest) override {
    const Labels labels{{"shard", std::to_string(forward)},
                        {"reverse_shard", std::to_string(reverse)}};
    Set(AddGauge("fanline_rel_log1_pending_rows",
                 "Changes of a shard's log1, for a shard of followers, that this mirror holds and "
                 "that are not done",
                 labels),
        rows);
    Set(AddGauge("fanline_rel_log1_oldest_seconds", "Age of the oldest of them", labels), oldest);
  }

 private:
  Counter& GapsOf(Shard forward) {
    return AddCounter(
        "fanline_rel_binlog_gap_total",
        "Times that the shard's binary log could not be read on, or did not tell of what "
        "polls found: polls find the rest",
        {{"shard", std::to_string(forward)}});
  }

  Counters<2> applied_ = AddCounters("fanline_rel_apply_total",
                                     "Changes applied to reverse rows, by whether they were news",
                                     "result", {"stale", "applied"});
  Histogram& apply_lag_ =
      AddSeconds("fanline_rel_apply_lag_seconds", "From a change to its committed reverse row");
  Counters<2> heard_ = AddCounters("fanline_rel_binlog_rows_total",
                                   "Changes that a binary log told of, by whether they were "
                                   "pending when they were read",
                                   "result", {"absent", "found"});
  Histogram& binlog_lag_ =
      AddSeconds("fanline_rel_binlog_lag_seconds",
                 "From a change to its being read, of those that a binary log told of");
  Counter& below_zero_ =
      AddCounter("fanline_rel_counter_negative_total",
                 "Counters of followers found below zero: drift, to be recounted");
  Counter& rejected_ =
      AddCounter("fanline_events_rejected_total", "Changes and events given to the dead letters");
  Counter& old_ = AddCounter("fanline_rel_old_message_rejected_total",
                             "Of these, events older than tombstones are kept");
  Counter& done_ =
      AddCounter("fanline_events_done_total", "Relation events that are in the forward row");
  Counter& lost_ =
      AddCounter("fanline_events_lost_total",
                 "Offsets cut from a log before they were read: longer retention needed");
  Gauge& open_ = AddGauge("fanline_events_open", "Relation events received and not finished");
  Gauge& events_parked_ =
      AddGauge("fanline_events_parked", "Open events that wait for a shard that is away");
};

}  // namespace fanline::mirror
