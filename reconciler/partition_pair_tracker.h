// The pairs of one partition of relation-log, during one assignment (pair_tracker.h). Passive, not
// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/consuming/offset_ledger.h"
#include "reconciler/edge_shards.h"
#include "reconciler/limits.h"
#include "reconciler/metrics.h"
#include "reconciler/pair_table.h"
#include "reconciler/pair_types.h"

namespace fanline::reconciler {

class PartitionPairTracker {
 public:
  // `stamps` gives numbers that no other assignment uses; `ledger` stands at the start. All outlive
  // this object.
  PartitionPairTracker(const Limits& limits, const MutationSwitches& guards,
                       const EdgeShards& shards, Metrics& metrics, uint64_t& stamps,
                       int32_t partition, OffsetLedger& ledger);

  void On(const PairRecord& record, Time now);
  void On(const LogEndSeen& seen) { end_ = seen; }
  void On(const Checked& checked, Time now);
  void On(const RetryAppended& appended, Time now);

  // Forgets the pairs that are due, checks them, or sends them to the retries. `lagging`: an
  // application's mirror is behind, so only pairs that it has passed by are checked.
  void Advance(Time now, bool lagging, PairProgress& progress);

  bool overfull() const { return pending_ - retrying_ > limits_->pending; }
  uint64_t pending() const { return pending_; }
  std::optional<UnixMs> OldestPending() const { return pairs_.OldestPending(); }
  size_t timers() const { return armed_ + remembered_.size(); }

 private:
  struct Timer {
    Time at{};
    PairTable::Place place = 0;
    uint64_t stamp = 0;
  };

  // The pairs with the same two shards: a shard that is away holds back only its own.
  struct Lane {
    // In order of `at`, since all wait equally long. Outdated timers stay until it is their turn.
    std::deque<Timer> armed;
    uint64_t checking = 0;
    UnixMs answered = 0;  // LogAppendTime of the latest msg1 whose msg2 came
  };

  void Written(const PairRecord& record, Time now);
  void Mirrored(const PairRecord& record, Time now);
  void Await(PairTable::Place place, const PairRecord& record, Time now);
  void Arm(PairTable::Place place, Time now);
  Lane& LaneOf(const Pair& pair) {
    return lanes_[shards_->NumberOf(pair.src_bucket, pair.dst_bucket)];
  }
  void LeaveStage(Pair& pair);
  void Settle(int64_t offset);  // marks it finished
  void Matched(const Pair& pair, const PairRecord& msg2);
  void Finish(Pair& pair);
  void Answer(PairTable::Place place, Time now);
  void Remember(PairTable::Place place, Time now);
  void ForgetFirst();

  // Whether `timer` was set for the present stage of its pair.
  bool Current(const Timer& timer) const { return pairs_[timer.place].stamp == timer.stamp; }
  void DropOutdated();
  void DropOutdatedFirst(Lane& lane);
  void Disarm(Lane& lane);  // drops its first timer
  Lane* OldestLane();
  bool AdvanceFirst(Lane& lane, Time now, bool lagging, PairProgress& progress);
  // Whether the mirror has passed by the pair: it answered a younger pair of this shard.
  bool PassedBy(const Lane& lane, const Pair& pair) const;
  bool CaughtUp(const Timer& timer) const;
  void StartCheck(Lane& lane, PairTable::Place place, PairProgress& progress);
  bool StartRetry(PairTable::Place place, RetryCause cause, Time now, PairProgress& progress);
  void WakeBy(Time time) { wake_ = Earlier(wake_, time); }

  const Limits* limits_;
  const MutationSwitches* guards_;
  const EdgeShards* shards_;
  Metrics* metrics_;
  uint64_t* stamps_;
  const int32_t partition_;

  PairTable pairs_;
  OffsetLedger* ledger_;
  int64_t position_;   // of the next record
  UnixMs newest_ = 0;  // latest LogAppendTime consumed
  uint64_t pending_ = 0;
  uint64_t retrying_ = 0;

  std::vector<Lane> lanes_;       // by pair of shards
  size_t armed_ = 0;              // timers of all lanes
  std::deque<Timer> remembered_;  // in order of `at`, as those of a lane

  std::optional<LogEndSeen> end_;  // of the log
  Time retry_after_{};             // after a retry that failed
  std::optional<Time> wake_;
};

}  // namespace fanline::reconciler
