// The reads of a check of an edge, and the one write of a repair that is not an ordinary reverse
// apply. Blocking; one thread at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline::mysql {

struct EdgeRows {
  Status status;  // of this edge; a shard that is away fails only its own edges
  Edge forward;   // ver 0: there is no row
  Edge reverse;
};

class EdgeRepair {
 public:
  // `connections` and `map` outlive this.
  EdgeRepair(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  // Reads both rows of each edge, in the order of `edges`. All reverse rows are read before the
  // first forward row. A change commits the forward row first, so a reverse row that is read as
  // newer than its forward row really is newer, whatever is written meanwhile.
  void ReadReverseThenForward(std::span<const EdgeKey> edges, std::vector<EdgeRows>* out);
  // The two halves of that, in this order: the second completes what the first began.
  void ReadReverse(std::span<const EdgeKey> edges, std::vector<EdgeRows>* out);
  void ReadForward(std::span<const EdgeKey> edges, std::vector<EdgeRows>* out);

  // Calls AdoptForward on the shard of edge.src.
  Status Adopt(const Edge& edge, ForwardChanged* out);

 private:
  // Reads the rows that lie with `owner`, and merges them into `out`.
  void Read(std::span<const EdgeKey> edges, UserId EdgeKey::*owner,
            std::string (*sql)(std::span<const EdgeKey>), Edge EdgeRows::*row,
            std::vector<EdgeRows>* out);

  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
