#include "backends/mysql/repairs/edge_repair.h"

#include <map>
#include <string>

#include "backends/mysql/edges/relation_statements.h"
#include "backends/mysql/sql/chunks.h"

namespace fanline::mysql {
namespace {

Edge EdgeOf(const Row& row) {
  return {UserId{row.UInt64(1)}, UserId{row.UInt64(2)}, row.UInt64(3), row.Bool(4), row.Int64(5)};
}

}  // namespace

void ReadRows(std::span<const EdgeKey> edges, UserId EdgeKey::*owner, const ShardMap& map,
              const ReadRowsOnShard& read, EdgeState RowsOfEdge::*row,
              std::vector<RowsOfEdge>* out) {
  std::map<Shard, std::vector<EdgeKey>> by_shard;
  for (const EdgeKey& edge : edges) by_shard[map.ShardOf(edge.*owner)].push_back(edge);
  std::map<EdgeKey, EdgeState> found;
  std::map<Shard, Status> results;
  for (auto& [shard, wanted] : by_shard) {
    SortUnique(wanted);
    std::vector<Edge> rows;
    results[shard] = read(shard, wanted, &rows);
    for (const Edge& each : rows) found[each.key()] = each.state();
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    RowsOfEdge& rows = out->at(i);
    if (rows.status.done()) rows.status = results.at(map.ShardOf(edges[i].*owner));
    rows.*row = found[edges[i]];
  }
}

void EdgeRepair::ReadReverseThenForward(std::span<const EdgeKey> edges,
                                        std::vector<RowsOfEdge>* out) {
  ReadReverse(edges, out);
  ReadForward(edges, out);
}

void EdgeRepair::ReadReverse(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out) {
  out->assign(edges.size(), {});
  ReadRows(edges, &EdgeKey::dst, map_, By(ReverseRowsSql), &RowsOfEdge::reverse, out);
}

void EdgeRepair::ReadForward(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out) {
  ReadRows(edges, &EdgeKey::src, map_, By(ForwardRowsSql), &RowsOfEdge::forward, out);
}

ReadRowsOnShard EdgeRepair::By(std::string (*sql)(std::span<const EdgeKey>)) {
  return [this, sql](Shard shard, const std::vector<EdgeKey>& edges, std::vector<Edge>* rows) {
    return connections_.ReadTruth(shard, [&](Connection& connection) {
      rows->clear();
      ForEachChunk(edges, kListLimit, [&](std::span<const EdgeKey> chunk) {
        connection.Query(sql(chunk), [&](const Row& row) { rows->push_back(EdgeOf(row)); });
      });
    });
  };
}

Status EdgeRepair::Adopt(const Edge& edge, ForwardChanged* out) {
  return connections_.Run(map_.ShardOf(edge.src),
                          [&](Connection& connection) { *out = AdoptForward(connection, edge); });
}

}  // namespace fanline::mysql
