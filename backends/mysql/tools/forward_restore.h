// Rebuilds the forward rows of a shard that was wiped, or restored from an old backup, out of the
// reverse rows of all shards (docs/decisions/0046-tombstones.md). For feedctl. The functions throw
// MysqlError, and repeating any of them does no harm.
//
// A reverse row has all that Fanline needs of its forward row: version, state, place in the list
// and delivery. The forward row takes them over as they are, so both rows agree, and no mirror has
// work. A forward row of a higher version stays: it was written meanwhile, by a user. So the
// service may run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline::mysql {

// A place in table follower: all rows up to this one are passed. The default: none is.
struct FollowerPlace {
  UserId dst{};
  Bucket bucket = 0;
  UserId src{};
};
inline FollowerPlace PlaceOf(const Edge& row) { return {row.dst, BucketOf(row.src), row.src}; }

// The next `limit` rows behind `after`, tombstones too, in the order of the primary key. Fewer:
// these are the last.
[[nodiscard]] std::vector<Edge> FollowersBehind(Connection& connection, const FollowerPlace& after,
                                                uint32_t limit);

// What became of forward rows, or in a dry run what would.
struct ForwardRestored {
  uint64_t made = 0;       // there was none
  uint64_t raised = 0;     // it had a lower version
  uint64_t equal = 0;      // it was so already
  uint64_t ahead = 0;      // it has a higher version, and stays
  uint64_t differing = 0;  // it has another state at the same version, or the reverse row is
                           // damaged: it stays

  ForwardRestored& operator+=(const ForwardRestored& other);
  // Rows that lag behind their reverse rows.
  uint64_t behind() const { return made + raised; }
};

// Makes and raises the forward rows of `reverse`, which are rows of follower, at most kListLimit of
// them, each once. The connection is to the shard of all their src. Rows and counters change in one
// transaction, counters by the rows' own transitions. The limit of followed users does not apply,
// and log1 gets no row. Not `apply`: reads only.
[[nodiscard]] ForwardRestored RestoreForward(Connection& connection,
                                             const std::vector<Edge>& reverse, bool apply);

// How far a restore has come (table forward_restore), by shard of the reverse rows. It is kept on
// the shard that is restored: if that is wiped once more, the place goes with it.
struct RestorePlace {
  FollowerPlace after;
  bool over = false;  // all rows are passed
  UnixMs began = 0;   // the server's clock
};
[[nodiscard]] std::map<Shard, RestorePlace> ReadRestorePlaces(Connection& connection);
void MoveRestorePlace(Connection& connection, Shard reverse, const FollowerPlace& after, bool over);
// The next restore begins anew.
void ForgetRestorePlaces(Connection& connection);

// Has the reconcilers compare all counters of the shard with their rows, soon. Counters that a
// restore has changed are right only if they agreed with their rows before.
void SweepCountersAnew(Connection& connection);

}  // namespace fanline::mysql
