// Repairs counters while their rows are being written. Blocking; one thread at a time.
//
// One statement reads counter, epoch and the number of live rows, all from one snapshot. A change
// writes row and counter in one transaction, so the difference is drift and nothing else, and no
// lock is held while rows are counted. A second statement adds the drift: changes made meanwhile
// are kept. It adds only while the epoch is still the one that was read, so two repairs of the same
// counter do not both add it.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"
#include "fanline/ports/counter_store.h"

namespace fanline::mysql {

// The read timeout a connection needs for LookAt. Statements of RepairOne and CountOne take at most
// kStatementSeconds, a quarter of the shortest read timeout of their callers: the server gives up
// first, so nobody asks again while it still counts.
inline constexpr std::chrono::seconds kLongestCount{600};

struct CounterFound {
  int64_t counter = 0;    // as it was read
  int64_t rows = 0;       // live ones, at the same moment
  bool repaired = false;  // false: it was right, or somebody else repaired it in between

  int64_t drift() const { return rows - counter; }
};

// On a connection to the shard of the user. A repair leaves a row in repair_log (net "counter",
// cause "drift") and takes the mark for a recount away, in its transaction. Throws MysqlError.
[[nodiscard]] CounterFound RepairOne(Connection& connection, const UserCounter& counter);

// How long one statement counts. A count that takes longer goes on in pieces, from one snapshot.
inline constexpr uint32_t kStatementSeconds = 15;

// The same count without the repair.
[[nodiscard]] CounterFound CountOne(Connection& connection, const UserCounter& counter,
                                    double statement_seconds = kStatementSeconds);

// Both counters of one user as they were seen; neither is repaired.
struct CountersSeen {
  UserId user{};
  CounterFound followed, followers;
};

// Reads both counters of each of `users` and their live rows, in the order of `users`, all from one
// snapshot; writes nothing. `users`: ascending, each once, of the connection's shard; a few
// hundred, since one statement counts all their rows. Throws MysqlError.
[[nodiscard]] std::vector<CountersSeen> LookAt(Connection& connection,
                                               std::span<const UserId> users);

class CounterRepair {
 public:
  // `connections` and `map` outlive this.
  CounterRepair(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  // RepairOne on the user's shard.
  Status Repair(const UserCounter& counter, CounterFound* out);

  // LookAt, of users of one shard.
  Status Look(std::span<const UserId> users, std::vector<CountersSeen>* out);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
