// The partitions a consuming logic owns: which records count, what may be committed, and when to
// pause. A record of a partition that was lost meanwhile is finished without effect on offsets: its
// next owner reads it again, so whatever only waits need not be kept, and must not: every
// rebalance would add it once more.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/consumer.h"
#include "fanline/offset_ledger.h"
#include "fanline/record.h"
#include "mirror/limits.h"
#include "mirror/metrics.h"

namespace fanline::mirror {

class Partitions {
 public:
  // Where a record came from; another assignment = not ours to commit any more.
  struct Place {
    int32_t partition = 0;
    int64_t offset = 0;
    uint64_t assignment = 0;
  };

  Partitions(const Limits& limits, Metrics& metrics) : limits_(limits), metrics_(metrics) {}

  void Assigned(const PartitionAssigned& assigned);
  void Revoked(const PartitionRevoked& revoked);
  // Nothing: the record is not ours to work on (not assigned, sought meanwhile, seen already).
  [[nodiscard]] std::optional<Place> Received(const Record& record);
  void Finished(const Place& place);
  // Whether it is still ours.
  [[nodiscard]] bool Holds(const Place& place) const;
  // Whether any came or went since this was last asked.
  [[nodiscard]] bool Moved() { return std::exchange(moved_, false); }

  // `open`: jobs under way, of all partitions. `at_once`: commit without waiting for the interval.
  void Order(size_t open, bool at_once, Now now, ConsumerOrders& orders);
  // Half of what may be open is: soon something is paused.
  [[nodiscard]] bool Crowded(size_t open) const;
  // When there is something to commit.
  [[nodiscard]] std::optional<Time> NextTimer() const;

 private:
  struct Partition {
    OffsetLedger ledger;
    uint64_t assignment = 0;
    int64_t ordered = -1;  // the last commit
    bool paused = false;
  };

  const Limits limits_;
  Metrics& metrics_;
  uint64_t assignments_ = 0;
  std::map<int32_t, Partition> partitions_;
  std::vector<ConsumerOrders::At> seeks_;
  bool moved_ = false;
  Time commit_at_{};
};

}  // namespace fanline::mirror
