// Requests: the counters of followed users and of followers that are known to be wrong. Whoever
// takes one below zero marks it in the same transaction (table recount); a sweep over everybody's
// marks those that drifted otherwise; a repair counts the rows it stands for, adds what is missing
// and takes the mark away. Repeating one does no harm.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline {

// The numbers stand in table recount.
enum class Counter : uint8_t { kFollowed = 1, kFollowers = 2 };

struct UserCounter {
  UserId user{};
  Counter counter{};
  friend auto operator<=>(const UserCounter&, const UserCounter&) = default;
};

struct ReadMarked {
  using Reply = struct MarkedRead;
  uint64_t id = 0;
  Shard shard = 0;
  uint32_t limit = 0;
};
struct MarkedRead {
  uint64_t id = 0;
  Status status;
  std::vector<UserCounter> counters;
};

// Of a user of that shard. A counter of millions of rows takes as long as reading them.
struct RepairCounter {
  using Reply = struct CounterRepaired;
  uint64_t id = 0;
  Shard shard = 0;
  UserCounter counter;
};
struct CounterRepaired {
  uint64_t id = 0;
  Status status;
  int64_t drift = 0;      // rows less what the counter said
  bool repaired = false;  // false: it was right, or somebody else repaired it in between
};

// The next users of the shard: both counters of each are compared with their rows, and those that
// differ are marked. Where it is and when it began is kept on the shard (table counter_sweep), for
// all who sweep it. Nothing is due until `every` after a sweep began.
struct SweepCounters {
  using Reply = struct CountersSwept;
  uint64_t id = 0;
  Shard shard = 0;
  std::chrono::seconds every{0};
};
struct CountersSwept {
  uint64_t id = 0;
  Status status;
  uint64_t users = 0;   // that were looked at
  uint64_t marked = 0;  // counters
  bool over = false;    // these were the last, or nothing is due
};

}  // namespace fanline
