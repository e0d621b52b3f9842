// The partitions a consuming logic owns: which records count, what may be committed, and when to
// pause. A record whose partition was revoked meanwhile finishes without effect on offsets: the
// next owner reads it again. Drop such a record while it only waits: if kept, it would pile up with
// every rebalance.
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
  // Partitions are paused at a bound, and resumed at half of it.
  struct Limits {
    size_t open = 0;  // jobs under way in all partitions
    // Records of one partition from the oldest unfinished one on: a restart reads them again.
    size_t span = std::numeric_limits<size_t>::max();
    Duration commit_every{};
  };
  // What the owner holds for all partitions together.
  struct Load {
    size_t open = 0;  // jobs under way that the owner's own bound does not count
    // Whether the owner's own bound is reached, and whether enough of it is free again.
    bool full = false;
    bool roomy = true;
  };
  // Where a record came from. Once its assignment is over, it is not ours to commit.
  struct Place {
    int32_t partition = 0;
    int64_t offset = 0;
    uint64_t assignment = 0;
  };

  // `metrics` outlives this.
  Partitions(const Limits& limits, ConsumerMetrics& metrics) : limits_(limits), metrics_(metrics) {}

  // Orders a seek to the partition's start, and reports what its log has lost. Forgets the orders
  // of an earlier assignment, even of one that was not revoked.
  void Assigned(const PartitionAssigned& assigned);
  void Revoked(const PartitionRevoked& revoked);
  // Nothing: the record is not ours to work on (not assigned, awaiting a seek, seen already).
  [[nodiscard]] std::optional<Place> Received(const Record& record);
  void Finished(const Place& place);
  // Whether the record's assignment still holds.
  [[nodiscard]] bool Holds(const Place& place) const;
  // Whether a partition was assigned or revoked since the last call.
  [[nodiscard]] bool Moved() { return std::exchange(moved_, false); }

  // Call it at the end of a step. Returns the orders and the time of the next commit. `at_once`:
  // commit without waiting for the interval.
  [[nodiscard]] Progress Order(const Load& load, bool at_once, Now now);

  // Records from the committed offsets to the last received ones, of all partitions together.
  [[nodiscard]] uint64_t commit_lag() const;
  // The ledger of a partition that is ours, for a logic that finishes its records itself. Valid
  // until the partition is revoked.
  [[nodiscard]] OffsetLedger& ledger(int32_t partition) { return partitions_.at(partition).ledger; }

 private:
  struct Partition {
    OffsetLedger ledger;
    uint64_t assignment = 0;
    // The offset of the last commit; -1: none yet. The start is committed too: else a group that
    // never met a record would not notice that the log was cut.
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
