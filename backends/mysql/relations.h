// Follow and unfollow: the forward row, then the reverse row, each with its counter in a
// transaction of its own (the two may lie on different shards). Blocking; one object per thread.
//
// The forward row's lock gives out the edge's versions, so an edge's changes have one order however
// many writers there are; the reverse row takes what is newer. Idempotent: the same call again
// changes nothing, but writes the reverse row again when a forward row exists, which heals a change
// that was interrupted between the two. Unfollowing somebody who was never followed leaves no row.
//
// The caller emits the hint sync(src, dst) after every done call, also one that changed nothing.
#pragma once

#include <cstdint>

#include "backends/mysql/shard_connections.h"
#include "fanline/bucket.h"
#include "fanline/ids.h"
#include "fanline/time.h"

namespace fanline::mysql {

// One row of `following`; its reverse carries the same ver, state and pos.
struct Edge {
  UserId src{};
  UserId dst{};
  uint64_t ver = 0;  // 0: there is no row
  bool live = false;
  UnixMs pos = 0;  // when src last became a follower of dst
};

class Relations {
 public:
  struct Result {
    uint64_t version = 0;  // of the forward row now; 0: no row
    // The forward row's state. May be false after a connection was lost while this very change was
    // being committed: it had happened when it was looked for again.
    bool changed = false;
  };

  Relations(const Config& config, const ShardMap& map);

  // `unix_us`: wall time, microseconds; keeps versions roughly time-like, order does not rest on
  // it. Later: with the reverse shard named, the follow itself may be committed: call again. Never:
  // an id that is no id.
  [[nodiscard]] Status Follow(UserId src, UserId dst, uint64_t unix_us, Result* result);
  [[nodiscard]] Status Unfollow(UserId src, UserId dst, uint64_t unix_us, Result* result);

  // The reverse half alone: makes `follower` and fans_cnt agree with `edge` unless they are already
  // newer. For whoever has read or received a forward row.
  [[nodiscard]] Status ApplyToReverse(const Edge& edge);

 private:
  Status Change(UserId src, UserId dst, bool live, uint64_t unix_us, Result* result);

  ShardConnections connections_;
  const ShardMap map_;
};

}  // namespace fanline::mysql
