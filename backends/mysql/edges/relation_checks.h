// How users stand to each other, many in one request. On a connection to one shard; throws
// MysqlError.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/relation_store.h"

namespace fanline::mysql {

// "Whom does the user follow" reads forward rows, the truth. "Who follows the user" reads reverse
// rows, which lag a moment behind. Both are on the user's shard.
[[nodiscard]] std::vector<Standing> StandingsOf(Connection& connection, const CheckUsers& request);

// The rows of edges that are of the connection's shard, one per edge, in their order. `sql`:
// ForwardRowsSql, ReverseRowsSql, or what selects the same columns.
using RowsSql = std::string(std::span<const EdgeKey> edges);
[[nodiscard]] std::vector<EdgeState> StatesOf(Connection& connection,
                                              const std::vector<EdgeKey>& edges,
                                              const std::function<RowsSql>& sql);

// The user's own rows of both directions.
[[nodiscard]] PairState PairStateOf(Connection& connection, UserId user, UserId other);

}  // namespace fanline::mysql
