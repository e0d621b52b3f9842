// Changes of edges and log1 by calls that wait, for tests of what these do on a connection. One
// object per thread; `connections` and `map` outlive it.
#pragma once

#include <vector>

#include "backends/mysql/edges/change_log.h"
#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/reverse_edges.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

class ForwardEdges {
 public:
  ForwardEdges(ShardConnections& connections, const ShardMap& map,
               uint32_t most_followed = kMostFollowed)
      : connections_(connections), map_(map), most_followed_(most_followed) {}

  Status Change(const EdgeChange& change, ForwardChanged* out) {
    *out = {};
    if (Status status = CheckEdgeIds(change.src, change.dst); !status.done()) return status;
    Status status = connections_.Run(map_.ShardOf(change.src), [&](Connection& connection) {
      *out = ChangeForward(connection, change, most_followed_);
    });
    return status.done() ? mysql::StatusOf(*out, most_followed_) : status;
  }

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
  const uint32_t most_followed_;
};

class ReverseEdges {
 public:
  explicit ReverseEdges(ShardConnections& connections) : connections_(connections) {}

  Status Apply(Shard shard, std::span<const Edge> edges, ReverseResult* out) {
    return connections_.Run(
        shard, [&](Connection& connection) { *out = ApplyReverse(connection, edges); });
  }

 private:
  ShardConnections& connections_;
};

class ChangeLog {
 public:
  explicit ChangeLog(ShardConnections& connections) : connections_(connections) {}

  Status ReadPending(Shard shard, uint64_t after, uint32_t limit, std::vector<LoggedChange>* out) {
    return connections_.Run(
        shard, [&](Connection& connection) { *out = PendingChanges(connection, after, limit); });
  }
  Status ReadPendingOf(Shard shard, ChangeKind kind, const EdgeKey& edge, uint32_t most,
                       std::vector<LoggedChange>* out, bool* all) {
    return connections_.Run(shard, [&](Connection& connection) {
      *out = PendingChangesOf(connection, kind, edge, most, all);
    });
  }
  Status MarkDone(Shard shard, const std::vector<LogRow>& rows) {
    return connections_.Run(shard,
                            [&](Connection& connection) { MarkChangesDone(connection, rows); });
  }

 private:
  ShardConnections& connections_;
};

}  // namespace fanline::mysql
