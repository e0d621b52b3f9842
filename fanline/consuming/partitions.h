// The partitions a consuming logic owns: which records count, what may be committed, and when to
// pause. A record of a partition that was lost meanwhile is finished without effect on offsets: its
// next owner reads it again, so whatever only waits need not be kept, and must not: every
// rebalance would add it once more.
//
// Passive, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/consuming/offset_ledger.h"
#include "fanline/model/record.h"

namespace fanline {

class Partitions {
 public:
  // At a bound partitions are paused; at half of it they are resumed.
  struct Limits {
    size_t open = 0;  // jobs under way, of all partitions
    // Of one partition, from the oldest unfinished record on: what a restart reads again.
    size_t span = std::numeric_limits<size_t>::max();
    Duration commit_every{};
  };
  // What the owner holds for all partitions together.
  struct Load {
    size_t open = 0;  // jobs under way
    // Of a bound that the owner knows: whether it is reached, and whether half of it is free.
    bool full = false;
    bool roomy = true;
  };
  // Where a record came from; another assignment = not ours to commit any more.
  struct Place {
    int32_t partition = 0;
    int64_t offset = 0;
    uint64_t assignment = 0;
  };

  // `metrics` outlives this.
  Partitions(const Limits& limits, ConsumerMetrics& metrics) : limits_(limits), metrics_(metrics) {}

  // Orders to read it from its start on, and reports what the log has lost. What was ordered for an
  // earlier assignment, also of one that was not revoked, is forgotten.
  void Assigned(const PartitionAssigned& assigned);
  void Revoked(const PartitionRevoked& revoked);
  // Nothing: the record is not ours to work on (not assigned, sought meanwhile, seen already).
  [[nodiscard]] std::optional<Place> Received(const Record& record);
  void Finished(const Place& place);
  // Whether it is still ours.
  [[nodiscard]] bool Holds(const Place& place) const;
  // Whether any came or went since this was last asked.
  [[nodiscard]] bool Moved() { return std::exchange(moved_, false); }

  // At the end of a step: what to order, and when there is something to commit. `at_once`: commit
  // without waiting for the interval.
  [[nodiscard]] Progress Order(const Load& load, bool at_once, Now now);
  // Half of what may be open is: soon something is paused.
  [[nodiscard]] bool Crowded(size_t open) const;

  // Records from the committed offsets to what was received last, all together.
  [[nodiscard]] uint64_t commit_lag() const;
  // Of a partition that is ours; valid until it goes. For whoever counts its records itself.
  [[nodiscard]] OffsetLedger& ledger(int32_t partition) { return partitions_.at(partition).ledger; }

 private:
  struct Partition {
    OffsetLedger ledger;
    uint64_t assignment = 0;
    // The last commit. The start is one too, or a group that never met a record would not notice
    // that the log was cut before it.
    int64_t ordered = -1;
    bool paused = false;
  };

  void DropSeek(int32_t partition);

  const Limits limits_;
  ConsumerMetrics& metrics_;
  uint64_t assignments_ = 0;
  std::map<int32_t, Partition> partitions_;
  std::vector<ConsumerOrders::At> seeks_;
  bool moved_ = false;
  Time commit_at_{};
};

}  // namespace fanline
