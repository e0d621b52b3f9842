// Port: what a reconciler asks of the two tables of edges, of the record of repairs, of what may be
// removed and of its setting. Each request gets one reply; repeating one does no harm.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fanline/bucket.h"
#include "fanline/edge.h"
#include "fanline/outcome.h"
#include "fanline/reconciler_mode.h"
#include "fanline/removal_allowance.h"
#include "fanline/reverse_edges.h"

namespace fanline {

// Both rows of each edge, on primaries. All reverse rows are read before the first forward row: a
// change is committed forward first, so a reverse row that is newer than its forward row is not
// seen unless one is there.
struct ReadEdges {
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

using RepairRequest =
    std::variant<ReadEdges, ApplyEdges, AdoptEdge, LogRepair, TakeRemovals, ReadReconcilerMode>;
using RepairReply = std::variant<EdgesRead, EdgesApplied, EdgeAdopted, RepairLogged, RemovalsTaken,
                                 ReconcilerModeRead>;

class RepairStore {
 public:
  virtual ~RepairStore() = default;
  virtual void Submit(RepairRequest request) = 0;
};

// Deletes rows of repair_log that are older than `keep`, oldest first, at most `most` of them.
struct PurgeRepairs {
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

// Port: the age of that record. One reply per request, as above.
class RepairPurge {
 public:
  virtual ~RepairPurge() = default;
  virtual void Submit(PurgeRepairs request) = 0;
};

}  // namespace fanline
