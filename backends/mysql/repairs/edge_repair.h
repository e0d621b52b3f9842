// The reads of a check of an edge, and the one write of a repair that is not an ordinary reverse
// apply. Blocking; one thread at a time.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/ports/repair_store.h"

namespace fanline::mysql {

// Reads the rows of edges that lie with `owner`, shard by shard, and merges them into `out`. `read`
// reads those that there are on one shard; it is given each edge once.
using ReadRowsOnShard =
    std::function<Status(Shard shard, const std::vector<EdgeKey>& edges, std::vector<Edge>* rows)>;
void ReadRows(std::span<const EdgeKey> edges, UserId EdgeKey::*owner, const ShardMap& map,
              const ReadRowsOnShard& read, EdgeState RowsOfEdge::*row,
              std::vector<RowsOfEdge>* out);

class EdgeRepair {
 public:
  // `connections` and `map` outlive this.
  EdgeRepair(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  // Reads both rows of each edge, in the order of `edges`. All reverse rows are read before the
  // first forward row. A change commits the forward row first, so a reverse row that is read as
  // newer than its forward row really is newer, whatever is written meanwhile.
  void ReadReverseThenForward(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out);
  // The two halves of that, in this order: the second completes what the first began.
  void ReadReverse(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out);
  void ReadForward(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out);

  // Calls AdoptForward on the shard of edge.src.
  Status Adopt(const Edge& edge, ForwardChanged* out);

 private:
  // `sql`: the statement that reads at most kListLimit edges.
  ReadRowsOnShard By(std::string (*sql)(std::span<const EdgeKey>));

  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
