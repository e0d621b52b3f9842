// Makes reverse edges agree with forward ones, for a relay, a synchronous follow and a repair
// alike. The higher version wins, so a change seen late, twice or beside others leaves the same
// rows. Blocking; one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline::mysql {

struct ReverseApplied {
  uint64_t ver = 0;      // of the row now: the edge's own, or a newer one that was there already
  bool written = false;  // this edge made the row what it is now; false: stale or a repetition
  int transition = 0;    // +1 became a follower, -1 no longer one, 0 neither
};

struct ReverseResult {
  std::vector<ReverseApplied> applied;  // in the order given
  // Authors whose counter is below zero, so it had drifted before: to be recounted.
  std::vector<UserId> below_zero;
};

// Applies all of `edges`, whose dst lie on the connection's shard, in one transaction. Any order;
// an edge may come more than once (fanline/wire/edge_fold.h). Rows are locked in the order of their
// key and counters after them, each once, so that appliers wait for each other and do not deadlock.
// An edge without a version (there is no forward row) must not be given. Throws MysqlError.
[[nodiscard]] ReverseResult ApplyReverse(Connection& connection, std::span<const Edge> edges);

class ReverseEdges {
 public:
  // `connections` and `map` outlive this.
  ReverseEdges(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  // ApplyReverse on `shard`.
  Status Apply(Shard shard, std::span<const Edge> edges, ReverseResult* out);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
