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

using Found = std::map<EdgeKey, Edge>;

// The rows of one direction, and the result for each shard that was asked.
struct Direction {
  Found rows;
  std::map<Shard, Status> shards;
};

Direction ReadAll(ShardConnections& connections, std::vector<std::vector<EdgeKey>>& by_shard,
                  std::string (*sql)(std::span<const EdgeKey>)) {
  Direction direction;
  for (Shard shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].empty()) continue;
    SortUnique(by_shard[shard]);
    direction.shards[shard] = connections.ReadTruth(shard, [&](Connection& connection) {
      ForEachChunk(by_shard[shard], kListLimit, [&](std::span<const EdgeKey> chunk) {
        connection.Query(sql(chunk), [&](const Row& row) {
          const Edge edge = EdgeOf(row);
          direction.rows[edge.key()] = edge;
        });
      });
    });
  }
  return direction;
}

Edge RowOr(const Found& rows, const EdgeKey& key) {
  const auto found = rows.find(key);
  return found == rows.end() ? fanline::EdgeOf(key, {}) : found->second;
}

}  // namespace

void EdgeRepair::ReadReverseThenForward(std::span<const EdgeKey> edges,
                                        std::vector<EdgeRows>* out) {
  std::vector<std::vector<EdgeKey>> by_dst(map_.shards()), by_src(map_.shards());
  for (const EdgeKey& edge : edges) {
    by_dst[map_.ShardOf(edge.dst)].push_back(edge);
    by_src[map_.ShardOf(edge.src)].push_back(edge);
  }
  const Direction reverse = ReadAll(connections_, by_dst, ReverseRowsSql);
  const Direction forward = ReadAll(connections_, by_src, ForwardRowsSql);
  out->clear();
  for (const EdgeKey& edge : edges) {
    const Status& of_reverse = reverse.shards.at(map_.ShardOf(edge.dst));
    const Status& of_forward = forward.shards.at(map_.ShardOf(edge.src));
    out->push_back({of_reverse.done() ? of_forward : of_reverse, RowOr(forward.rows, edge),
                    RowOr(reverse.rows, edge)});
  }
}

Status EdgeRepair::Adopt(const Edge& edge, ForwardChanged* out) {
  return connections_.Run(map_.ShardOf(edge.src),
                          [&](Connection& connection) { *out = AdoptForward(connection, edge); });
}

}  // namespace fanline::mysql
