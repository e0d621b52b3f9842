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
// such row. While its mirror lags (MirrorLag), its pairs are not checked, except those of shards
// where that mirror has answered a younger pair.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "fanline/base/mutation_switches.h"
#include "fanline/consuming/partitions.h"
#include "reconciler/edge_shards.h"
#include "reconciler/limits.h"
#include "reconciler/metrics.h"
#include "reconciler/pair_types.h"
#include "reconciler/partition_pair_tracker.h"

namespace fanline::reconciler {

class PairTracker {
 public:
  PairTracker(const Limits& limits, Metrics& metrics, const EdgeShards& shards = {},
              const MutationSwitches& guards = {})
      : limits_(limits),
        metrics_(metrics),
        shards_(shards),
        guards_(guards),
        log_({.open = std::numeric_limits<size_t>::max(), .commit_every = limits.commit_every},
             metrics) {}
  PairTracker(const PairTracker&) = delete;
  PairTracker& operator=(const PairTracker&) = delete;

  // Takes the records of a partition in the order of their offsets. Ignores replies about pairs
  // that have moved on, and replies to an earlier owner of the partition.
  [[nodiscard]] PairProgress Step(std::span<const PairInput> inputs, Now now);

  uint64_t pending() const;
  uint64_t commit_lag() const { return log_.commit_lag(); }  // as of the last step
  std::optional<UnixMs> OldestPending() const;               // LogAppendTime; looks at every pair
  size_t timers() const;                                     // outdated ones included

 private:
  struct Owned {
    PartitionPairTracker pairs;
    bool paused = false;
  };

  void On(const PartitionAssigned& assigned, Now now);
  void On(const PartitionRevoked& revoked, Now);
  void On(const MirrorLag& mirror, Now) { mirror_lag_ = mirror.lag; }
  void On(const Checked& checked, Now now) {  // no two pairs have one ticket
    for (auto& [number, owned] : partitions_) owned.pairs.On(checked, now.mono);
  }
  template <class Input>
  void On(const Input& input, Now now);

  const Limits limits_;
  Metrics& metrics_;
  const EdgeShards shards_;
  const MutationSwitches guards_;
  uint64_t stamps_ = 0;
  Partitions log_;
  std::map<int32_t, Owned> partitions_;
  Duration mirror_lag_{};
};

}  // namespace fanline::reconciler
