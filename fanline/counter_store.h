// Port: the counters of followed users and of followers that are known to be wrong. Whoever takes
// one below zero marks it in the same transaction (table recount); a repair counts the rows it
// stands for, adds what is missing and takes the mark away. Each request gets one reply; repeating
// one does no harm.
#pragma once

#include <cstdint>
#include <vector>

#include "fanline/bucket.h"
#include "fanline/ids.h"
#include "fanline/outcome.h"

namespace fanline {

// The numbers stand in table recount.
enum class Counter : uint8_t { kFollowed = 1, kFollowers = 2 };

struct UserCounter {
  UserId user{};
  Counter counter{};
  friend auto operator<=>(const UserCounter&, const UserCounter&) = default;
};

struct ReadMarked {
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

class CounterStore {
 public:
  virtual ~CounterStore() = default;
  virtual void Submit(ReadMarked request) = 0;
  virtual void Submit(RepairCounter request) = 0;
};

}  // namespace fanline
