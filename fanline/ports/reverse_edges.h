// Request: makes reverse edges agree with forward ones (by the rule of edge_fold.h). One request =
// one transaction on the shard of all its dst; either all of it is committed or none. Idempotent.
// An adapter may merge requests of one shard into one transaction.
#pragma once

#include <cstdint>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline {

struct ApplyEdges {
  using Reply = struct EdgesApplied;
  uint64_t id = 0;
  Shard shard = 0;
  std::vector<Edge> edges;  // ver >= 1; any order; an edge may come more than once
};
struct EdgesApplied {
  uint64_t id = 0;
  Status status;  // kNever: one of the edges cannot be stored; the caller finds it by halving
  struct Applied {
    uint64_t ver = 0;      // of the reverse row now: the edge's own, or a newer one
    bool written = false;  // false: stale or a repetition
  };
  std::vector<Applied> applied;  // one per edge, in the request's order
  // Counters below zero. They had drifted before and need a recount.
  uint64_t below_zero = 0;
};

}  // namespace fanline
