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

// Both rows of each edge, on primaries. All reverse rows are read before the first forward row: a
// change is committed forward first, so a reverse row that is newer than its forward row is not
// seen unless one is there.
struct ReadEdges {
  using Reply = struct EdgesRead;
  uint64_t id = 0;
  std::vector<EdgeKey> edges;
};
struct RowsOfEdge {
  Status status;  // of this edge: one shard that is away does not keep the others unread
  EdgeState reverse;
  EdgeState forward;
};
struct EdgesRead {
  uint64_t id = 0;
  std::vector<RowsOfEdge> rows;  // as asked
};

// Makes the forward row say what `edge` says, at edge.ver, under its lock; not if it has edge.ver
// or a newer one by then. Its counter and log1 row are changed in the same transaction.
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

// One row of table repair_log: what is about to be repaired, for whoever asks afterwards.
struct LogRepair {
  using Reply = struct RepairLogged;
  uint64_t id = 0;
  std::string net;    // what found it: at most 16 bytes, as is the cause
  std::string cause;  // "missing", "stale", ...
  EdgeKey edge;
  std::string before, after;  // at most 64 bytes
  uint64_t ver = 0;           // of the edge as repaired
};
struct RepairLogged {
  uint64_t id = 0;
  Status status;
};

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
  Shard shard = 0;
  Status status;
  uint64_t deleted = 0;
};

}  // namespace fanline
