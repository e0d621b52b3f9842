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

  // Both rows of each edge, in the order asked. Reads all reverse rows before the first forward
  // row. A change is committed forward first, so a reverse row seen newer than its forward row
  // really is newer, whatever is written meanwhile.
  void ReadReverseThenForward(std::span<const EdgeKey> edges, std::vector<EdgeRows>* out);

  // AdoptForward on the shard of edge.src.
  Status Adopt(const Edge& edge, ForwardChanged* out);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
