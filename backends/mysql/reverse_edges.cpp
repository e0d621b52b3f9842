#include "backends/mysql/reverse_edges.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "backends/mysql/chunks.h"
#include "backends/mysql/relation_statements.h"
#include "backends/mysql/sql_text.h"
#include "fanline/check.h"

namespace fanline::mysql {
namespace {

using Key = std::tuple<UserId, Bucket, UserId>;  // the primary key: dst, bucket of src, src

Key KeyOf(const Edge& edge) { return {edge.dst, BucketOf(edge.src), edge.src}; }

struct Change {
  Edge edge;
  uint64_t ver_before = 0;
  bool live_before = false;

  bool newer() const { return edge.ver > ver_before; }
  int transition() const { return newer() ? (edge.live ? 1 : 0) - (live_before ? 1 : 0) : 0; }
};

using Changes = std::map<Key, Change>;  // in the order rows are locked in

// Of one edge that is given twice only the newer can matter.
Changes Fold(std::span<const Edge> edges) {
  Changes changes;
  for (const Edge& edge : edges) {
    Change& change = changes[KeyOf(edge)];
    if (change.edge.ver < edge.ver) change.edge = edge;
  }
  return changes;
}

void AppendKey(std::string& sql, const Key& key) {
  AppendId(sql, std::get<0>(key));
  sql += ',';
  AppendNumber(sql, std::get<1>(key));
  sql += ',';
  AppendId(sql, std::get<2>(key));
}

void AppendRow(std::string& sql, const Key& key, uint64_t ver, bool live, UnixMs pos) {
  sql += '(';
  AppendKey(sql, key);
  sql += ',';
  AppendNumber(sql, ver);
  sql += live ? ",1," : ",0,";
  AppendNumber(sql, pos);
  sql += ')';
}

constexpr const char* kInsert = "INSERT INTO follower (dst, bucket, src, ver, state, pos) VALUES ";

// Lock or create, before the rows are read: two appliers that both found no row would both count a
// follower. It takes exclusive locks at once; INSERT IGNORE would take shared ones first, and two
// that upgrade them are a deadlock.
void Lock(Connection& connection, const Changes& changes) {
  std::string sql = kInsert;
  AppendJoined(sql, changes,
               [](std::string& out, const auto& each) { AppendRow(out, each.first, 0, false, 0); });
  connection.Execute(sql + " ON DUPLICATE KEY UPDATE ver = ver");
}

// In the order of the key, which is the order of locking.
void ReadLocked(Connection& connection, Changes& changes) {
  std::vector<EdgeKey> keys;
  for (const auto& [key, change] : changes) keys.push_back({change.edge.dst, change.edge.src});
  ForEachChunk(keys, kListLimit, [&](std::span<const EdgeKey> chunk) {
    connection.Query(ReverseRowsSql(chunk) + " ORDER BY dst, bucket, src FOR UPDATE",
                     [&](const Row& row) {
                       const Edge edge{.src = UserId{row.UInt64(1)}, .dst = UserId{row.UInt64(2)}};
                       Change& change = changes.at(KeyOf(edge));
                       change.ver_before = row.UInt64(3);
                       change.live_before = row.Bool(4);
                     });
  });
}

// The version is assigned last: assignments take effect from left to right, and those before it
// compare with what it was.
bool WriteNewer(Connection& connection, const Changes& changes) {
  std::string rows;
  for (const auto& [key, change] : changes) {
    if (!change.newer()) continue;
    if (!rows.empty()) rows += ',';
    AppendRow(rows, key, change.edge.ver, change.edge.live, change.edge.pos);
  }
  if (rows.empty()) return false;
  connection.Execute(kInsert + rows +
                     " ON DUPLICATE KEY UPDATE state = IF(VALUES(ver) > ver, VALUES(state), state),"
                     " pos = IF(VALUES(ver) > ver, VALUES(pos), pos),"
                     " ver = GREATEST(ver, VALUES(ver))");
  return true;
}

// One statement for all authors, last in the transaction. Those who lost a follower and are now
// below zero are named; nothing is clamped, or a repair would add what is missing a second time.
void Count(Connection& connection, const Changes& changes, std::vector<UserId>* below_zero) {
  std::map<UserId, int64_t> by_author;
  for (const auto& [key, change] : changes) by_author[change.edge.dst] += change.transition();
  std::erase_if(by_author, [](const auto& each) { return each.second == 0; });
  if (by_author.empty()) return;
  std::string sql = "INSERT INTO user_fan (user_id, fans_cnt) VALUES ";
  AppendJoined(sql, by_author, [](std::string& out, const auto& each) {
    out += '(';
    AppendId(out, each.first);
    out += ',';
    AppendNumber(out, each.second);
    out += ')';
  });
  connection.Execute(sql + " ON DUPLICATE KEY UPDATE fans_cnt = fans_cnt + VALUES(fans_cnt)");

  std::vector<UserId> lost;
  for (const auto& [author, by] : by_author) {
    if (by < 0) lost.push_back(author);
  }
  ForEachChunk(lost, kListLimit, [&](std::span<const UserId> chunk) {
    connection.Query(BelowZeroSql(chunk),
                     [&](const Row& row) { below_zero->push_back(UserId{row.UInt64(1)}); });
  });
}

}  // namespace

Status ReverseEdges::Apply(Shard shard, std::span<const Edge> edges, ReverseResult* out) {
  *out = {};
  if (edges.empty()) return Status::Done();
  for (const Edge& edge : edges) {
    FANLINE_CHECK(edge.ver > 0, "an edge that has a forward row");
    FANLINE_CHECK(map_.ShardOf(edge.dst) == shard, "edges of the shard that is asked");
  }
  Changes changes;
  Status status = connections_.Run(shard, [&](Connection& connection) {
    connection.Transact([&] {
      changes = Fold(edges);
      out->below_zero.clear();
      Lock(connection, changes);
      ReadLocked(connection, changes);
      if (!WriteNewer(connection, changes)) return false;
      Count(connection, changes, &out->below_zero);
      return true;
    });
  });
  if (!status.done()) return status;
  // The transition is told once, with the edge that made it: a relay may act on each of them.
  for (const Edge& edge : edges) {
    Change& change = changes.at(KeyOf(edge));
    const bool made_it = edge.ver == change.edge.ver;
    out->applied.push_back(
        {std::max(change.ver_before, change.edge.ver), made_it ? change.transition() : 0});
    if (made_it) change.ver_before = change.edge.ver;
  }
  return status;
}

}  // namespace fanline::mysql
