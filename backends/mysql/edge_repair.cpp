#include "backends/mysql/edge_repair.h"

#include <functional>
#include <map>
#include <string>

#include "backends/mysql/chunks.h"
#include "backends/mysql/recounts.h"
#include "backends/mysql/relation_statements.h"
#include "fanline/check.h"

namespace fanline::mysql {
namespace {

Edge EdgeOf(const Row& row) {
  return {UserId{row.UInt64(1)}, UserId{row.UInt64(2)}, row.UInt64(3), row.Bool(4), row.Int64(5)};
}

using Found = std::map<EdgeKey, Edge>;

// The rows of one direction, and what became of each shard that was asked.
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
    direction.shards[shard] = connections.Run(shard, [&](Connection& connection) {
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

std::string Number(uint64_t value) { return std::to_string(value); }

Edge LockForward(Connection& connection, const EdgeKey& key) {
  const std::string src = ToString(key.src), dst = ToString(key.dst);
  connection.Execute("INSERT INTO following (src, dst, ver, state, pos) VALUES (" + src + "," +
                     dst + ",0,0,0) ON DUPLICATE KEY UPDATE ver = ver");
  Edge row = fanline::EdgeOf(key, {});
  connection.Query("SELECT src, dst, ver, state, pos FROM following WHERE src = " + src +
                       " AND dst = " + dst + " FOR UPDATE",
                   [&](const Row& columns) { row = EdgeOf(columns); });
  return row;
}

void WriteForward(Connection& connection, const Edge& edge) {
  const std::string state = edge.live ? "1" : "0", pos = std::to_string(edge.pos);
  connection.Execute("UPDATE following SET state = " + state + ", pos = " + pos +
                     ", ver = " + Number(edge.ver) + " WHERE src = " + ToString(edge.src) +
                     " AND dst = " + ToString(edge.dst));
  connection.Execute("INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (1," +
                     ToString(edge.src) + "," + ToString(edge.dst) + "," + Number(edge.ver) + "," +
                     state + "," + pos + ")");
}

// Whether the counter is below zero now.
bool Count(Connection& connection, UserId src, int transition) {
  if (transition == 0) return false;
  const std::string id = ToString(src), by = std::to_string(transition);
  connection.Execute("INSERT INTO user_rel (user_id, following_cnt) VALUES (" + id + "," + by +
                     ") ON DUPLICATE KEY UPDATE following_cnt = following_cnt + (" + by + ")");
  bool below_zero = false;
  connection.Query("SELECT following_cnt < 0 FROM user_rel WHERE user_id = " + id,
                   [&](const Row& row) { below_zero = row.Bool(1); });
  if (below_zero) MarkForRecount(connection, Counter::kFollowed, {&src, 1});
  return below_zero;
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

Status EdgeRepair::AdoptIntoForward(const Edge& edge, Adopted* out) {
  FANLINE_CHECK(edge.ver > 0, "an edge that has a row");
  return connections_.Run(map_.ShardOf(edge.src), [&](Connection& connection) {
    connection.Transact([&] {
      *out = {};
      const Edge before = LockForward(connection, edge.key());
      out->edge = before;
      if (before.ver > edge.ver) return false;
      out->edge = edge;
      out->edge.ver = edge.ver + 1;
      out->adopted = true;
      WriteForward(connection, out->edge);
      out->below_zero = Count(connection, edge.src, (edge.live ? 1 : 0) - (before.live ? 1 : 0));
      return true;
    });
  });
}

Status EdgeRepair::Log(const Repair& repair) {
  return connections_.Run(map_.ShardOf(repair.src),
                          [&](Connection& connection) { connection.Execute(RepairSql(repair)); });
}

}  // namespace fanline::mysql
