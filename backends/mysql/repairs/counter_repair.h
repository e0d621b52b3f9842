// Counters made right while their rows are being written. Blocking; one thread at a time.
//
// Counter, epoch and the number of live rows are read by one statement, that is, from one snapshot:
// a change writes row and counter in one transaction, so the difference is drift and nothing else,
// and no lock is held while rows are counted. The drift is added, in a statement of its own: what
// was followed meanwhile is kept. It is added only while the epoch is still the one that was read,
// so two who repair the same counter do not both add it.
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

// What the connection of whoever waits for a count should allow (its read timeout). No statement of
// RepairOne and CountOne takes longer than a quarter of the shortest, see kStatementSeconds: the
// server gives up first, so nobody asks again while it still counts.
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

// A count of more rows than one statement reads in that time goes on in pieces, from one snapshot.
inline constexpr uint32_t kStatementSeconds = 15;

// The same look without the repair.
[[nodiscard]] CounterFound CountOne(Connection& connection, const UserCounter& counter,
                                    double statement_seconds = kStatementSeconds);

// Both counters of one user as they were seen; neither is repaired.
struct CountersSeen {
  UserId user{};
  CounterFound followed, followers;
};

// Writes nothing: both counters of each of `users` and their live rows, in their order, all from
// one snapshot. `users`: ascending, each once, of the connection's shard; a few hundred, for it is
// one statement, which takes as long as counting all their rows does. Throws MysqlError.
[[nodiscard]] std::vector<CountersSeen> LookAt(Connection& connection,
                                               std::span<const UserId> users);

class CounterRepair {
 public:
  // `connections` and `map` outlive this.
  CounterRepair(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  // As above.
  Status Repair(const UserCounter& counter, CounterFound* out);

  // LookAt, of users of one shard.
  Status Look(std::span<const UserId> users, std::vector<CountersSeen>* out);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
