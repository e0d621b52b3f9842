// Follow and unfollow written in both directions at once: the forward row, then the reverse row
// (the two may lie on different shards, so each is a transaction of its own). For callers that need
// both when the call returns, such as a tool; others write the forward row alone and leave the
// reverse row to whoever relays log1. Blocking; one object per thread.
//
// Idempotent: the same call again changes nothing, but writes the reverse row again when there is a
// forward row, which heals a change that was interrupted between the two.
//
// The caller emits the hint sync(src, dst) after every done call, also one that changed nothing,
// and marks the row of log1 done once the hint is acknowledged. A row that is left pending costs a
// relay a look and changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/mysql/change_log.h"
#include "backends/mysql/forward_edges.h"
#include "backends/mysql/reverse_edges.h"
#include "backends/mysql/shard_connections.h"
#include "fanline/bucket.h"
#include "fanline/ids.h"

namespace fanline::mysql {

struct LoggedRow {  // of log1
  Shard shard = 0;
  LogRow row;
};

class Relations {
 public:
  struct Result {
    uint64_t version = 0;             // of the forward row now; 0: no row
    bool changed = false;             // as in ForwardChanged
    bool over_limit = false;          // so is this; the Status is never
    std::optional<LoggedRow> logged;  // to be marked done
  };

  Relations(const Config& config, const ShardMap& map, uint32_t most_followed = kMostFollowed);

  // `unix_us`: as in EdgeChange. Later: with the reverse shard named, the follow itself may be
  // committed: call again. Never: as ForwardEdges::Change.
  Status Follow(UserId src, UserId dst, uint64_t unix_us, Result* result);
  Status Unfollow(UserId src, UserId dst, uint64_t unix_us, Result* result);

  Status MarkDone(const std::vector<LoggedRow>& rows);

 private:
  Status Change(const EdgeChange& change, Result* result);

  ShardConnections connections_;
  const ShardMap map_;
  ForwardEdges forward_;
  ReverseEdges reverse_{connections_, map_};
  ChangeLog log_{connections_};
};

}  // namespace fanline::mysql
