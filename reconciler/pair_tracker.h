// Finds changes of edges whose second half got lost. msg1 says that a forward row was committed.
// msg2 says that its reverse row was committed, and that the hint is in its log. Both lie in one
// partition of relation-log. A msg1 that has no msg2 after the grace is checked: the rows
// themselves are compared. So is a msg2 without its msg1, since its forward shard may have lost the
// change. A newer msg2 answers an older msg1, so disorder, duplicates and storms need no further
// case.
//
//   msg1 -> armed -> msg2: answered       (likewise if the msg2 comes first)
//                 -> its time is over and the log was read up to then -> check
//                    -> the mirror's, or the rows agree: answered; else again
//                 -> checked in vain, or too many -> retries -> answered
//
// A timeout is a question, not a verdict: a check that finds the rows equal changes nothing, so
// checking too often costs reads only. No pair may be lost, though. An offset is committed only
// below every pending message, and a pair leaves for the retries only when Kafka acknowledged it
// there. The next owner of the partition replays from that offset and finds the same pairs pending;
// a message whose other one lay below the offset costs one check. A shard that is away does not pin
// the log: its pairs go to the retries. The partition is paused only when the retries cannot be
// written.
//
// A check first asks whether the change's row of log1 is pending (checker.h), so Fanline's mirror
// may be behind as long as it likes. The messages of an application with tables of its own name no
// such row. While its mirror lags (mirror_lag.h), its pairs are not checked, except those of shards
// where that mirror has answered a younger pair.
//
// A tracker follows the pairs of one partition, during one assignment. Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/consuming/offset_ledger.h"
#include "fanline/model/edge_shards.h"
#include "fanline/wire/relation_log.h"
#include "reconciler/checker.h"
#include "reconciler/limits.h"
#include "reconciler/metrics.h"
#include "reconciler/pair_table.h"

namespace fanline::reconciler {

// One record of relation-log; those that are no message are given too, since offsets advance on
// all.
struct PairRecord {
  int64_t offset = 0;
  UnixMs appended = 0;  // LogAppendTime
  Decoded<RelationMessage> message;
};

// Orders that the pair is written to relation-log.retry, where it is checked later. Each retry gets
// one reply.
struct Retry {
  int32_t partition = 0;
  uint64_t id = 0;
  EdgeKey edge;
  EdgeClaim claim;
};

struct PairProgress : Progress {
  std::vector<CheckOrder> checks;
  std::vector<Retry> retries;
};

class PairTracker {
 public:
  struct Common {  // of all partitions
    const Limits limits;
    Metrics& metrics;
    const EdgeShards shards{};
    const MutationSwitches guards{};
    uint64_t stamps = 0;  // no two assignments use the same
  };

  // `ledger` stands at the start. Both outlive this object.
  PairTracker(Common& common, int32_t partition, OffsetLedger& ledger)
      : common_(common),
        partition_(partition),
        ledger_(ledger),
        position_(ledger.committable()),
        lanes_(common.shards.pairs()) {}

  // Takes the records in the order of their offsets.
  void On(const PairRecord& record, Time now);
  void On(const LogEndSeen& seen) { end_ = seen; }
  // Replies. Those about pairs that have moved on, or to an earlier owner of the partition, are
  // ignored.
  void Checked(const CheckOrder& check, bool resolved, Time now);
  void RetryAppended(const Retry& retry, bool acknowledged, Time now);

  // Forgets the pairs that are due, checks them, or sends them to the retries; pauses the partition
  // while there are too many. `mirror_lag`: of an application's mirror. Above the grace only pairs
  // that it has passed by are checked.
  void Advance(Time now, Duration mirror_lag, PairProgress& progress);

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

  void Written(const PairRecord& record, const EdgeWritten& msg1, Time now);
  void Mirrored(const PairRecord& record, const EdgeMirrored& msg2, Time now);
  void Await(PairTable::Place place, const PairRecord& record, uint64_t ver, Time now);
  void Arm(PairTable::Place place, Time now);
  Lane& LaneOf(const Pair& pair) {
    return lanes_[common_.shards.NumberOf(pair.src_bucket, pair.dst_bucket)];
  }
  void LeaveStage(Pair& pair);
  void Settle(int64_t offset);  // marks it finished
  void Matched(const Pair& pair, const PairRecord& msg2);
  void Finish(Pair& pair);
  void Answer(PairTable::Place place, Time now);
  void Remember(PairTable::Place place, Time now);
  void EndStage(PairTable::Place place, bool answered, Time now);
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

  bool overfull() const { return pending_ - retrying_ > common_.limits.pending; }

  Common& common_;
  const int32_t partition_;

  PairTable pairs_;
  OffsetLedger& ledger_;
  int64_t position_;   // of the next record
  UnixMs newest_ = 0;  // latest LogAppendTime consumed
  uint64_t pending_ = 0;
  uint64_t retrying_ = 0;
  bool paused_ = false;

  std::vector<Lane> lanes_;       // by pair of shards
  size_t armed_ = 0;              // timers of all lanes
  std::deque<Timer> remembered_;  // in order of `at`, as those of a lane

  std::optional<LogEndSeen> end_;  // of the log
  Time retry_after_{};             // after a retry that failed
  std::optional<Time> wake_;
};

}  // namespace fanline::reconciler
