// Rows of edges by key, many in one request.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/edge.h"

namespace fanline::mysql {

// src, dst, ver, state, pos of those of `edges` that have a row; 1 to kListLimit edges.
using RowsSql = std::string(std::span<const EdgeKey> edges);
std::string ForwardRowsSql(std::span<const EdgeKey> edges);
std::string ReverseRowsSql(std::span<const EdgeKey> edges);

// The rows of edges that are of the connection's shard, one per edge, in their order. `sql`: one of
// these two, or what selects the same columns. Throws MysqlError.
[[nodiscard]] std::vector<EdgeState> StatesOf(Connection& connection,
                                              const std::vector<EdgeKey>& edges,
                                              const std::function<RowsSql>& sql);

}  // namespace fanline::mysql
