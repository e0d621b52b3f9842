// Requests of a reconciler about the two tables of edges and the record of repairs. Repeating one
// does no harm.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline {

// Reads both rows of each edge, on primaries, all reverse rows before the first forward row. A
// change is committed forward first, so the answer shows a reverse row newer than its forward row
// only where there is one. The edges, one at least, have the same two shards.
struct ReadEdges {
  using Reply = struct EdgesRead;
  uint64_t id = 0;
  std::vector<EdgeKey> edges;
};
struct RowsOfEdge {
  EdgeState reverse;
  EdgeState forward;
};
struct EdgesRead {
  uint64_t id = 0;
  Status status;
  std::vector<RowsOfEdge> rows;  // one per edge, in the request's order
  // Of the forward rows' shard (tombstones.h), read after them; 0: no tombstone was ever collected.
  UnixMs horizon = 0;
};

// Writes `edge` over the forward row, at edge.ver, under the row's lock, unless the row has
// edge.ver or a newer version by then. The same transaction changes the counter and writes the log1
// row.
struct AdoptEdge {
  using Reply = struct EdgeAdopted;
  uint64_t id = 0;
  Edge edge;
};
struct EdgeAdopted {
  uint64_t id = 0;
  Status status;
  bool adopted = false;
  Edge edge;  // the forward row now
};

// Writes a row of table repair_log, the record of repairs, before the repair is made.
struct LogRepair {
  using Reply = Acknowledged<LogRepair>;
  uint64_t id = 0;
  std::string net;    // what found it: at most 16 bytes, like the cause
  std::string cause;  // "missing", "stale", ...
  EdgeKey edge;
  std::string before, after;  // at most 64 bytes
  uint64_t ver = 0;           // of the edge as repaired
};
using RepairLogged = LogRepair::Reply;

// Deletes rows of repair_log that are older than `keep`, oldest first, at most `most` of them.
struct PurgeRepairs {
  using Reply = struct RepairsPurged;
  uint64_t id = 0;
  Shard shard = 0;
  std::chrono::seconds keep{0};
  uint32_t most = 0;
};
struct RepairsPurged {
  uint64_t id = 0;
  Status status;
  uint64_t deleted = 0;
};

}  // namespace fanline
