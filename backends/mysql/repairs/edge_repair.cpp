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

void EdgeRepair::ReadReverseThenForward(std::span<const EdgeKey> edges,
                                        std::vector<EdgeRows>* out) {
  ReadReverse(edges, out);
  ReadForward(edges, out);
}

void EdgeRepair::ReadReverse(std::span<const EdgeKey> edges, std::vector<EdgeRows>* out) {
  out->assign(edges.size(), {});
  Read(edges, &EdgeKey::dst, ReverseRowsSql, &EdgeRows::reverse, out);
}

void EdgeRepair::ReadForward(std::span<const EdgeKey> edges, std::vector<EdgeRows>* out) {
  Read(edges, &EdgeKey::src, ForwardRowsSql, &EdgeRows::forward, out);
}

void EdgeRepair::Read(std::span<const EdgeKey> edges, UserId EdgeKey::*owner,
                      std::string (*sql)(std::span<const EdgeKey>), Edge EdgeRows::*row,
                      std::vector<EdgeRows>* out) {
  std::map<Shard, std::vector<EdgeKey>> by_shard;
  for (const EdgeKey& edge : edges) by_shard[map_.ShardOf(edge.*owner)].push_back(edge);
  std::map<EdgeKey, Edge> found;
  std::map<Shard, Status> results;
  for (auto& [shard, wanted] : by_shard) {
    SortUnique(wanted);
    results[shard] = connections_.ReadTruth(shard, [&, &wanted = wanted](Connection& connection) {
      ForEachChunk(wanted, kListLimit, [&](std::span<const EdgeKey> chunk) {
        connection.Query(sql(chunk), [&](const Row& each) {
          const Edge edge = EdgeOf(each);
          found[edge.key()] = edge;
        });
      });
    });
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    EdgeRows& rows = out->at(i);
    if (rows.status.done()) rows.status = results.at(map_.ShardOf(edges[i].*owner));
    const auto one = found.find(edges[i]);
    rows.*row = one == found.end() ? fanline::EdgeOf(edges[i], {}) : one->second;
  }
}

Status EdgeRepair::Adopt(const Edge& edge, ForwardChanged* out) {
  return connections_.Run(map_.ShardOf(edge.src),
                          [&](Connection& connection) { *out = AdoptForward(connection, edge); });
}

}  // namespace fanline::mysql
