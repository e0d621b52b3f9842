// Repairs counters while their rows are being written.
//
// One statement reads the counter, its epoch and the number of live rows from one snapshot. A
// change writes row and counter in one transaction, so the difference is exactly the drift, and no
// lock is held while rows are counted. A second statement adds the drift to the counter, which
// keeps changes made meanwhile. It does so only if the epoch is still the one that was read, so
// that two repairs of the same counter do not both add it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"
#include "fanline/ports/counter_store.h"

namespace fanline::mysql {

// The read timeout that a connection needs for LookAt. Statements of RepairOne and CountOne take at
// most kStatementLimit, a quarter of the shortest read timeout of their callers. The server gives
// up first, so no count is requested again while the server still counts.
inline constexpr std::chrono::seconds kLongestCount{600};

struct CounterFound {
  int64_t counter = 0;    // as it was read
  int64_t rows = 0;       // live ones, at the same moment
  bool repaired = false;  // false: it was right, or another repair was faster

  int64_t drift() const { return rows - counter; }
};

// Runs on a connection to the shard of the user. The transaction of a repair also adds a row to
// repair_log (net "counter", cause "drift") and removes the mark for a recount. Throws MysqlError.
[[nodiscard]] CounterFound RepairOne(Connection& connection, const UserCounter& counter);

// The limit of one statement that counts. A count that takes longer continues in pieces, from one
// snapshot.
inline constexpr std::chrono::seconds kStatementLimit{15};

// The same count without the repair.
[[nodiscard]] CounterFound CountOne(Connection& connection, const UserCounter& counter,
                                    std::chrono::milliseconds limit = kStatementLimit);

// Both counters of one user as they were read, without a repair.
struct CountersSeen {
  UserId user{};
  CounterFound followed, followers;
};

// Reads both counters of each of `users` and their live rows from one snapshot, in the order of
// `users`. Writes nothing. `users`: ascending, each once, on the connection's shard; at most a few
// hundred, since one statement counts all their rows. Throws MysqlError.
[[nodiscard]] std::vector<CountersSeen> LookAt(Connection& connection,
                                               std::span<const UserId> users);

// Users whose counters can be checked: those with a row of user_rel or user_fan, and owners of rows
// that such a row should count.
//
// The users of the connection's shard above `after`, ascending, among the owners of the next `rows`
// rows of each table. Rows on a shard that is not their owner's are skipped, because no counter is
// kept there. `known`: the page has all owners up to this one, and only this one may own more rows
// than were read; none: the page is the last. A walk goes on above `known`, so an owner of millions
// of rows costs no more than others. A user who comes during the walk may be missed. Throws
// MysqlError.
struct OwnersPage {
  std::vector<UserId> owners;
  std::optional<UserId> known;
};
[[nodiscard]] OwnersPage ReadOwners(Connection& connection, const ShardMap& map, UserId after,
                                    uint32_t rows = 5'000);

}  // namespace fanline::mysql
