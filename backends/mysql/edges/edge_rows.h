// Rows of edges by key, many in one request.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline::mysql {

// The edge of six columns from `first` on: src, dst, ver, state, pos, delivery.
inline Edge EdgeFrom(const Row& row, uint32_t first) {
  return {.src = UserId{row.UInt64(first)},
          .dst = UserId{row.UInt64(first + 1)},
          .ver = row.UInt64(first + 2),
          .live = row.Bool(first + 3),
          .pos = row.Int64(first + 4),
          .delivery = StoredDelivery(row.Int64(first + 5))};
}

// src, dst, ver, state, pos, delivery of those of `edges` that have a row; 1 to kListLimit edges.
using RowsSql = std::string(std::span<const EdgeKey> edges);
inline std::string ForwardRowsSql(std::span<const EdgeKey> edges) {
  std::string sql =
      "SELECT src, dst, ver, state, pos, delivery FROM following FORCE INDEX (PRIMARY)"
      " WHERE (src, dst) IN ";
  AppendList(sql, edges, [](std::string& out, const EdgeKey& edge) {
    AppendTuple(out, Raw(edge.src), Raw(edge.dst));
  });
  return sql;
}
inline std::string ReverseRowsSql(std::span<const EdgeKey> edges) {
  std::string sql =
      "SELECT src, dst, ver, state, pos, delivery FROM follower FORCE INDEX (PRIMARY)"
      " WHERE (dst, bucket, src) IN ";
  AppendList(sql, edges, [](std::string& out, const EdgeKey& edge) {
    AppendTuple(out, Raw(edge.dst), BucketOf(edge.src), Raw(edge.src));
  });
  return sql;
}

// The rows of edges that are of the connection's shard, one per edge, in their order. `sql`: one of
// these two, or what selects the same columns. Throws MysqlError.
[[nodiscard]] inline std::vector<EdgeState> StatesOf(Connection& connection,
                                                     const std::vector<EdgeKey>& edges,
                                                     const std::function<RowsSql>& sql) {
  std::vector<EdgeKey> wanted = edges;
  SortUnique(wanted);
  std::unordered_map<EdgeKey, EdgeState> found;
  QueryChunks(connection, wanted, kListLimit, sql, [&](const Row& row) {
    const Edge edge = EdgeFrom(row, 1);
    found[edge.key()] = edge.state();
  });
  std::vector<EdgeState> states;
  for (const EdgeKey& edge : edges) states.push_back(found[edge]);
  return states;
}

}  // namespace fanline::mysql
