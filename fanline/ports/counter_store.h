// Requests: find and repair wrong counters of followed users and of followers. The transaction that
// takes a counter below zero marks it (table recount). A sweep over all users marks counters that
// drifted otherwise. A repair counts the rows, adds the difference to the counter and removes the
// mark. Repeating a request does no harm.
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

// Repairs a counter of a user of that shard. Takes as long as reading its rows, perhaps millions.
struct RepairCounter {
  using Reply = struct CounterRepaired;
  uint64_t id = 0;
  Shard shard = 0;
  UserCounter counter;
};
struct CounterRepaired {
  uint64_t id = 0;
  Status status;
  int64_t drift = 0;      // the number of rows minus the counter
  bool repaired = false;  // false: it was right, or somebody else repaired it in between
};

// Compares both counters of the shard's next users with their rows, and marks those that differ.
// The shard keeps the sweep's place and beginning (table counter_sweep), for all who sweep it. The
// next sweep is due `every` after this one began.
struct SweepCounters {
  using Reply = struct CountersSwept;
  uint64_t id = 0;
  Shard shard = 0;
  std::chrono::seconds every{0};
};
struct CountersSwept {
  uint64_t id = 0;
  Status status;
  uint64_t users = 0;   // compared
  uint64_t marked = 0;  // counters
  bool over = false;    // these were the last, or nothing is due
};

}  // namespace fanline
