#include "backends/mysql/edges/edge_rows.h"

#include <unordered_map>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

std::string ForwardRowsSql(std::span<const EdgeKey> edges) {
  std::string sql =
      "SELECT src, dst, ver, state, pos FROM following FORCE INDEX (PRIMARY)"
      " WHERE (src, dst) IN ";
  AppendList(sql, edges, [](std::string& out, const EdgeKey& edge) {
    AppendTuple(out, Raw(edge.src), Raw(edge.dst));
  });
  return sql;
}

std::string ReverseRowsSql(std::span<const EdgeKey> edges) {
  std::string sql =
      "SELECT src, dst, ver, state, pos FROM follower FORCE INDEX (PRIMARY)"
      " WHERE (dst, bucket, src) IN ";
  AppendList(sql, edges, [](std::string& out, const EdgeKey& edge) {
    AppendTuple(out, Raw(edge.dst), BucketOf(edge.src), Raw(edge.src));
  });
  return sql;
}

std::vector<EdgeState> StatesOf(Connection& connection, const std::vector<EdgeKey>& edges,
                                const std::function<RowsSql>& sql) {
  std::vector<EdgeKey> wanted = edges;
  SortUnique(wanted);
  std::unordered_map<EdgeKey, EdgeState> found;
  QueryChunks(connection, wanted, kListLimit, sql, [&](const Row& row) {
    found[{UserId{row.UInt64(1)}, UserId{row.UInt64(2)}}] = {row.UInt64(3), row.Bool(4),
                                                             row.Int64(5)};
  });
  std::vector<EdgeState> states;
  for (const EdgeKey& edge : edges) states.push_back(found[edge]);
  return states;
}

}  // namespace fanline::mysql
