// The log scan's look at relation-log: what its messages said is compared with the rows once more,
// minutes later (edge_comparer.h). Finds what got lost after a pair was answered: a reverse shard
// that failed over behind its msg2, a forward shard behind its msg1, a row changed by hand. The
// place is the committed offset of a group of its own.
//
//   record -> held until it is old enough -> [an application's mirror has passed it]
//          -> with others folded by edge: the highest version stands for all -> compared ->
//          finished
//
// Records are taken in batches, in the order of their log. A partition is paused while it holds
// many. In mode pause no batch is taken. Records that it does not know are left to the pair
// reconciler to report.
//
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/consuming/partitions.h"
#include "fanline/ports/log_positions.h"
#include "reconciler/edge_comparer.h"

namespace fanline::reconciler {

struct LaterLimits {
  Duration after = std::chrono::minutes(10);  // how old a message is when it is looked at
  uint32_t held = 4'000;                      // records of a partition
  uint32_t batch = 2'000;                     // records that are folded together
  uint32_t open = 10'000;                     // edges that are being compared
  Duration commit_every = std::chrono::seconds(1);
  Duration look_every = std::chrono::seconds(1);
};

using LaterInput =
    std::variant<PartitionAssigned, PartitionRevoked, Record, ComparerReply, GroupOffsetsRead>;

class LaterReconciler {
 public:
  struct Ports {
    EdgeComparer::Ports comparer;
    Port<ReadGroupOffsets> positions;
    Metrics& metrics;
  };
  struct Setup {
    Checker::Setup checker;
    bool mirror_group = false;  // whether a group of the application applies this log
  };

  // `gate` outlives this.
  LaterReconciler(const Ports& ports, const Setup& setup, const EdgeComparer::Limits& comparing,
                  const LaterLimits& limits, RepairGate& gate);

  [[nodiscard]] Progress Step(std::span<LaterInput> inputs, Now now);

  // From now on nothing more is compared; keep stepping until drained(). The committed offsets stay
  // below what is not finished.
  void StopTaking();
  bool drained() const { return comparer_.idle(); }

 private:
  struct Held {
    Partitions::Place place;
    UnixMs appended = 0;
    EdgeKey edge;
    EdgeClaim claim;
  };

  void On(const PartitionAssigned& assigned, Now);
  void On(const PartitionRevoked& revoked, Now);
  void On(const Record& record, Now);
  void On(const ComparerReply& reply, Now now) { comparer_.On(reply, now); }
  void On(const GroupOffsetsRead& read, Now);

  void Look(Now now);
  bool Ripe(const Held& held, Now now) const;
  void Compare(Now now);
  bool TakeFinished();

  const Ports ports_;
  const Setup setup_;
  const LaterLimits limits_;
  RepairGate& gate_;
  EdgeComparer comparer_;
  Partitions partitions_;
  std::map<int32_t, std::deque<Held>> held_;   // by partition, in the order of the log
  std::map<int32_t, int64_t> mirrored_up_to_;  // offsets that the application's mirror committed
  std::unordered_map<uint64_t, std::vector<Partitions::Place>> comparing_;  // by ticket
  uint64_t ids_ = 0;  // of tickets and requests
  bool taking_ = true;
  bool asking_ = false;
  Time look_at_{};
};

}  // namespace fanline::reconciler
