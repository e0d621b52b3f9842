// Makes reverse edges agree with forward ones. Mirror, synchronous follows and repairs use it. The
// higher version wins, so a change that comes late, twice or beside others leads to the same rows.
#pragma once

#include <span>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/edge.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline::mysql {

struct ReverseResult {
  std::vector<EdgesApplied::Applied> applied;  // in the order given
  // Authors whose counter is below zero. It had drifted before and needs a recount.
  std::vector<UserId> below_zero;
};

// Applies all of `edges` in one transaction. Their dst lie on the connection's shard. They may come
// in any order, and an edge may come more than once (fanline/wire/edge_fold.h). Rows are locked in
// key order and then the counters, each once, so that appliers wait for each other instead of
// deadlocking. Every edge must have a version; one without has no forward row. Throws MysqlError.
[[nodiscard]] ReverseResult ApplyReverse(Connection& connection, std::span<const Edge> edges);

}  // namespace fanline::mysql
