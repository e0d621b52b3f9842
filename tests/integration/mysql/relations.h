// Follow and unfollow in both directions at once, for tests that need both rows: writes the forward
// row, then what a relay would bring about. One object per thread.
#pragma once

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "tests/integration/mysql/blocking_edges.h"

namespace fanline::mysql {

class Relations {
 public:
  struct Result {
    uint64_t version = 0;  // of the forward row now; 0: no row
    bool changed = false;
  };

  Relations(const Config& config, const ShardMap& map) : connections_(config), map_(map) {}

  Status Follow(UserId src, UserId dst, uint64_t unix_us, Result* result) {
    return Change({src, dst, true, unix_us}, result);
  }
  Status Unfollow(UserId src, UserId dst, uint64_t unix_us, Result* result) {
    return Change({src, dst, false, unix_us}, result);
  }

 private:
  Status Change(const EdgeChange& change, Result* result) {
    ForwardChanged forward;
    const Status status = forward_.Change(change, &forward);
    *result = {forward.edge.ver, forward.changed};
    if (!status.done() || forward.edge.ver == 0) return status;
    ReverseResult reverse;
    return reverse_.Apply(map_.ShardOf(change.dst), {&forward.edge, 1}, &reverse);
  }

  ShardConnections connections_;
  const ShardMap map_;
  ForwardEdges forward_{connections_, map_, 1'000'000};  // without a limit of changes
  ReverseEdges reverse_{connections_};
};

}  // namespace fanline::mysql
