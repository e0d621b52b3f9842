// What a check of an edge reads, and what a repair writes besides an ordinary reverse apply.
// Blocking; one thread at a time.
#pragma once

#include <span>
#include <vector>

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline::mysql {

struct EdgeRows {
  Status status;  // of this edge: one shard that is away does not keep the others unread
  Edge forward;   // ver 0: there is no row
  Edge reverse;
};

class EdgeRepair {
 public:
  // `connections` and `map` outlive this.
  EdgeRepair(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  // Both rows of each edge, in the order asked. All reverse rows are read before the
  // first forward row: a change is committed forward first, so whatever is written meanwhile, a
  // reverse row that is newer than its forward row is not seen unless one is there.
  void ReadReverseThenForward(std::span<const EdgeKey> edges, std::vector<EdgeRows>* out);

  // AdoptForward on the shard of edge.src.
  Status Adopt(const Edge& edge, ForwardChanged* out);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
