// The reconciler's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the reconciler's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>

#include "daemon/observe/consumed_log.h"
#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "fanline/base/mono_now.h"
#include "reconciler/metrics.h"

namespace fanline::reconciler {

class PrometheusMetrics final : public daemon::ConsumedLog<Metrics> {
 public:
  // `log_scan_after`: how old a change is when the log scan has come to it.
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log, Duration log_scan_after)
      : ConsumedLog(registry, log, "what its lost records said is found by a scan"),
        log_scan_after_(log_scan_after) {}

  void Matched(Duration from_msg1_to_msg2) override {
    pairs_[kMatched]->Increment();
    Observe(latency_, from_msg1_to_msg2);
  }

  void Early() override { pairs_[kEarly]->Increment(); }
  void Duplicate() override { pairs_[kDup]->Increment(); }
  void Coalesced() override { pairs_[kCoalesced]->Increment(); }
  void TimedOut() override { pairs_[kTimeout]->Increment(); }
  void LeftToMirror() override { pairs_[kPending]->Increment(); }
  void EarlyExpired() override { early_expired_.Increment(); }

  void SentToRetry(RetryCause cause) override {
    retried_.at(static_cast<size_t>(cause))->Increment();
  }

  void LogGap(int32_t partition, int64_t wanted, int64_t first) override {
    Add(lost_, first - wanted);
    log_.Error(
        "records were cut from a log before they were read; what they said is found by a scan",
        {{"partition", partition}, {"from_offset", wanted}, {"to_offset", first}});
  }

  void Undecodable(const std::string& why) override {
    undecodable_.Increment();
    log_.WarnEvery("undecodable", kWarnEvery, SystemNow().mono, "a record is no message we know",
                   {{"reason", why}});
  }

  void Checked(Net net, Finding finding) override {
    checks_.at(static_cast<size_t>(net)).at(static_cast<size_t>(finding))->Increment();
  }

  void Repaired(Net net, const Verdict& verdict, Duration age) override {
    const auto cause = static_cast<size_t>(verdict.finding) - 1;  // none is made of equal rows
    repairs_.at(static_cast<size_t>(net)).at(cause)->Increment();
    CountRepair(net, age);
  }

  void FriendshipRepaired(Duration age) override {
    friendship_repairs_.Increment();
    CountRepair(Net::kLog, age);
  }

  void Scanned(Scan scan, uint64_t changes) override {
    Add(*scanned_.at(static_cast<size_t>(scan)), changes);
  }
  void Unscanned(Scan scan, Duration age) override {
    Set(*unscanned_.at(static_cast<size_t>(scan)), age);
  }

  void FullScanned(const std::string& table, uint64_t rows) override {
    Add(*full_scanned_.at(table == kTables[0] ? 0 : 1), rows);
  }
  void FullScanStopped(const std::string& table, Shard shard, const std::string& why) override {
    log_.Error("the full scan has stopped until an operator sees to it",
               {{"table", table}, {"shard", shard}, {"reason", why}});
  }
  void FullScan(const FullScanReport& report) override {
    Set(unpassed_, report.unpassed);
    full_scan_done_.Set(report.done);
    Set(full_scan_left_, report.left);
    Set(full_scan_stopped_, report.stopped);
    Set(replica_lag_, report.replica_lag);
  }

  void WouldRepair(const EdgeKey& edge, const Verdict& verdict) override {
    withheld_.Increment();
    log_.WarnEvery("withheld", kWarnEvery, SystemNow().mono, "a repair was not made",
                   {{"src", ToString(edge.src)},
                    {"dst", ToString(edge.dst)},
                    {"version", std::to_string(verdict.state.ver)},
                    {"follows", verdict.state.live},
                    {"delivery", NameOf(verdict.state.delivery)}});
  }

  void Hopeless(const EdgeKey& edge, const std::string& why) override {
    hopeless_.Increment();
    log_.WarnEvery("hopeless", kWarnEvery, SystemNow().mono,
                   "an edge cannot be repaired: set its rows right by hand",
                   {{"src", ToString(edge.src)}, {"dst", ToString(edge.dst)}, {"reason", why}});
  }

  void BreakerOpen(Shard shard, bool open) override {
    Set(AddGauge("fanline_rel_breaker_open",
                 "1: too many followers would be removed, an operator must look", Of(shard)),
        open);
    if (open && !open_[shard]) {
      log_.Error(
          "repairs would remove too many followers: they stop until the setting reconciler "
          "goes from dry_run or pause to run",
          {{"shard", shard}});
    }
    open_[shard] = open;
  }

  void Throttled(Duration waited) override { Add(throttled_, waited); }

  void Pending(uint64_t pairs, Duration oldest, uint64_t commit_lag) override {
    Set(pending_, pairs);
    Set(oldest_, oldest);
    Set(commit_lag_, commit_lag);
  }

  void CountersMarked(Shard shard, uint64_t counters) override {
    Set(AddGauge("fanline_rel_counters_marked",
                 "Counters known to be wrong that wait for their repair, 100 at most", Of(shard)),
        counters);
  }

  void CounterRepaired(int64_t drift) override {
    counter_repairs_.Increment();
    Observe(counter_drift_, std::abs(drift));
  }

  void CountersSwept(uint64_t users, uint64_t marked) override {
    Add(swept_, users);
    Add(swept_wrong_, marked);
  }

  void HorizonRaised(UnixMs horizon) override {
    Set(horizon_, static_cast<double>(horizon) / 1000);
  }
  void TombstonesCollected(bool reverse, uint64_t rows) override {
    Add(*tombstones_.at(reverse ? 1 : 0), rows);
  }

  void RepostsPassed(uint64_t rows) override { Add(reposts_passed_, rows); }
  void RepostDeleted() override { reposts_deleted_.Increment(); }
  void RepostsSweptSince(UnixMs at) override {
    Set(reposts_swept_, static_cast<double>(at) / 1000);
  }

  void MirrorLagged(Duration lag) override { Set(mirror_lag_, lag); }
  void RetriesHeld(uint64_t entries) override { Set(retry_depth_, entries); }

 private:
  static constexpr Duration kWarnEvery = std::chrono::seconds(10);

  // What a scan repairs all nets before it have missed, the last of them most. The log scan misses
  // nothing before it has come to it.
  void CountRepair(Net net, Duration age) {
    Observe(*ages_.at(static_cast<size_t>(net)), age);
    if (net == Net::kLog) escapes_.Increment();
    if (net != Net::kScan) return;
    (age > log_scan_after_ ? log_escapes_ : early_escapes_).Increment();
  }
  Counter& AddEscapes(Net missed_by, Net found_by) {
    return AddCounter("fanline_relation_escapes_total",
                      "Differences that one net has missed and a later one has repaired",
                      {{"missed_by", NameOf(missed_by)}, {"found_by", NameOf(found_by)}});
  }

  Counters<7> AddChecks(Net net) {
    return AddCounters("fanline_rel_checks_total",
                       "Edges whose two rows were compared, by what was found", "outcome",
                       kFindings, {{"net", NameOf(net)}});
  }
  Counters<6> AddRepairs(Net net) {
    return AddCounters(kRepairs, kRepairsHelp, "cause", kCauses, {{"net", NameOf(net)}});
  }

  static constexpr const char* kRepairs = "fanline_relation_repairs_total";
  static constexpr const char* kRepairsHelp =
      "Edges, friendships and counters set right, by what was wrong";
  static constexpr const char* kTables[] = {"forward", "reverse"};  // as FullScanned names them
  static constexpr const char* kCauses[] = {"stale",  "missing", "ahead",
                                            "orphan", "corrupt", "lost"};  // kFindings, from 1 on

  static Labels Of(Shard shard) { return {{"shard", std::to_string(shard)}}; }

  Histogram& latency_ = AddSeconds("fanline_rel_pair_latency_seconds",
                                   "From a change's msg1 to its msg2, by the broker's clock");
  enum PairResult { kMatched, kEarly, kDup, kCoalesced, kTimeout, kPending };
  Counters<6> pairs_ =
      AddCounters("fanline_rel_pairs_total", "Messages of relation-log, by what became of the pair",
                  "result", {"matched", "early", "dup", "coalesced", "timeout", "pending"});
  Counter& early_expired_ =
      AddCounter("fanline_rel_early_expired_total",
                 "msg2 whose msg1 never came: lost, or a writer unknown to us");
  Counters<2> retried_ = AddCounters(  // by cause
      "fanline_rel_retries_total", "Pairs given to the retries, to be checked later", "cause",
      {"checks_failed", "too_many"});
  Counter& lost_ =
      AddCounter("fanline_events_lost_total",
                 "Offsets cut from a log before they were read: longer retention needed");
  Counter& undecodable_ =
      AddCounter("fanline_rel_undecodable_total", "Records that are no message we know");
  // By net, then by finding.
  std::array<Counters<7>, 3> checks_{AddChecks(Net::kPair), AddChecks(Net::kLog),
                                     AddChecks(Net::kScan)};
  std::array<Counters<6>, 3> repairs_{AddRepairs(Net::kPair), AddRepairs(Net::kLog),
                                      AddRepairs(Net::kScan)};
  std::array<Histogram*, 3> ages_ =
      AddForEach("net", kNets, [this](const Labels& labels) -> Histogram& {
        return daemon::AddHistogram(registry_, "fanline_relation_repair_age_seconds",
                                    "From a change to the repair of what it had lost",
                                    daemon::AgeBuckets(), labels);
      });
  Counter& friendship_repairs_ =
      AddCounter(kRepairs, kRepairsHelp, {{"net", NameOf(Net::kLog)}, {"cause", "friendship"}});
  Counter& counter_repairs_ =
      AddCounter(kRepairs, kRepairsHelp, {{"net", "counter"}, {"cause", "drift"}});
  Counter& escapes_ = AddEscapes(Net::kPair, Net::kLog);
  Counter& early_escapes_ = AddEscapes(Net::kPair, Net::kScan);
  Counter& log_escapes_ = AddEscapes(Net::kLog, Net::kScan);
  Counters<2> scanned_ = AddCounters(  // by scan
      "fanline_relation_scanned_total", "Changes that the log scan has compared with their rows",
      "source", kScans);
  std::array<Gauge*, 2> unscanned_ =
      AddForEach("source", kScans, [this](const Labels& labels) -> Gauge& {
        return AddGauge("fanline_relation_unscanned_seconds",
                        "How long ago the oldest change was made that the log scan has not come to",
                        labels);
      });
  Counters<2> full_scanned_ = AddCounters(
      "fanline_relation_full_scan_rows_total",
      "Rows that the full scan has compared with those of the other table", "table", kTables);
  Gauge& unpassed_ = AddGauge("fanline_relation_full_scan_unpassed_seconds",
                              "How long ago the full scan last came to the end of every table");
  Gauge& full_scan_done_ =
      AddGauge("fanline_relation_full_scan_done_ratio",
               "Part of the rows that the full scan has compared, of the passes under way");
  Gauge& full_scan_left_ = AddGauge("fanline_relation_full_scan_left_seconds",
                                    "How long the slowest pass under way will take yet");
  Gauge& full_scan_stopped_ =
      AddGauge("fanline_relation_full_scan_stopped",
               "Tables that the full scan does not go on with until an operator has looked");
  Gauge& replica_lag_ = AddGauge("fanline_relation_full_scan_replica_lag_seconds",
                                 "How long a replica has lacked what the full scan has written");
  Counter& swept_ = AddCounter("fanline_rel_counters_swept_total",
                               "Users whose counters were compared with their rows");
  Counter& swept_wrong_ = AddCounter("fanline_rel_counters_swept_wrong_total",
                                     "Counters that the comparison found wrong");
  Gauge& horizon_ = AddGauge("fanline_relation_tombstone_horizon_timestamp_seconds",
                             "Relations are known from then on: older changes are refused");
  Counters<2> tombstones_ = AddCounters(  // by direction
      "fanline_relation_tombstones_collected_total",
      "Rows of unfollows deleted after the longest retention", "direction", {"forward", "reverse"});
  Counter& reposts_passed_ =
      AddCounter("fanline_repost_rows_swept_total",
                 "Rows of table repost that the sweep of reposts has passed");
  Counter& reposts_deleted_ = AddCounter("fanline_reposts_deleted_total",
                                         "Events appended that delete reposts of deleted posts");
  Gauge& reposts_swept_ =
      AddGauge("fanline_reposts_swept_timestamp_seconds",
               "Every shard of this process was last swept of such reposts then or later");
  Histogram& counter_drift_ = AddSizes("fanline_rel_counter_drift",
                                       "By how much a counter that was repaired had been wrong");
  Counter& withheld_ = AddCounter("fanline_rel_repairs_withheld_total",
                                  "Repairs not made: a dry run, an open breaker");
  Counter& hopeless_ =
      AddCounter("fanline_rel_hopeless_total", "Checks of edges that no repair can set right");
  Counter& throttled_ =
      AddCounter("fanline_rel_throttled_seconds_total",
                 "Time checks waited for the throttle of their shard", {{"reason", "rate"}});
  Gauge& pending_ = AddGauge("fanline_rel_pending", "Pairs that wait for their msg2");
  Gauge& oldest_ = AddGauge("fanline_rel_oldest_pending_seconds", "Age of the oldest of them");
  Gauge& commit_lag_ = AddGauge("fanline_rel_commit_offset_lag",
                                "Records of relation-log that a restart would read again");
  Gauge& mirror_lag_ = AddGauge(
      "fanline_rel_mirror_lag_seconds",
      "How far behind an application's mirror was seen: above the grace no pair is checked");
  Gauge& retry_depth_ =
      AddGauge("fanline_rel_retry_depth", "Entries of relation-log.retry held until they are due");
  std::map<Shard, bool> open_;
  const Duration log_scan_after_;
};

}  // namespace fanline::reconciler
