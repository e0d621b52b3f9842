#include "backends/mysql/edges/reverse_edges.h"

#include <string>
#include <unordered_set>

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"
#include "fanline/wire/edge_fold.h"

namespace fanline::mysql {
namespace {

void AppendRow(std::string& sql, const Edge& row) {
  AppendTuple(sql, Raw(row.dst), BucketOf(row.src), Raw(row.src), row.ver, int{row.live}, row.pos,
              static_cast<int>(row.delivery));
}

constexpr const char* kInsert =
    "INSERT INTO follower (dst, bucket, src, ver, state, pos, delivery) VALUES ";

// Locks or creates the rows before they are read, because two appliers that both found no row would
// both count a follower. The INSERT takes exclusive locks at once. INSERT IGNORE would take shared
// ones first, and two appliers that upgrade them deadlock.
void Lock(Connection& connection, const std::vector<EdgeKey>& edges) {
  std::string sql = kInsert;
  AppendJoined(sql, edges,
               [](std::string& out, const EdgeKey& edge) { AppendRow(out, EdgeOf(edge, {})); });
  connection.Execute(sql + " ON DUPLICATE KEY UPDATE ver = ver");
}

// Reads in key order, which is the order of locking. Version 0 means that there was no row: Lock
// has just made it.
std::vector<Edge> ReadLocked(Connection& connection, const std::vector<EdgeKey>& edges) {
  std::vector<Edge> rows;
  QueryChunks(
      connection, edges, kListLimit,
      [](std::span<const EdgeKey> chunk) {
        return ReverseRowsSql(chunk) + " ORDER BY dst, bucket, src FOR UPDATE";
      },
      [&](const Row& row) { rows.push_back(EdgeFrom(row, 1)); });
  return rows;
}

// The version is assigned last. Assignments take effect from left to right, and those before it
// compare with the old version.
void Write(Connection& connection, const std::vector<Edge>& rows) {
  std::string sql = kInsert;
  AppendJoined(sql, rows, [](std::string& out, const Edge& row) { AppendRow(out, row); });
  connection.Execute(sql +
                     " ON DUPLICATE KEY UPDATE state = IF(VALUES(ver) > ver, VALUES(state), state),"
                     " pos = IF(VALUES(ver) > ver, VALUES(pos), pos),"
                     " delivery = IF(VALUES(ver) > ver, VALUES(delivery), delivery),"
                     " ver = GREATEST(ver, VALUES(ver))");
}

// One statement for all authors, last in the transaction. Returns the authors who lost a follower
// and are now below zero. Nothing is clamped, or a repair would add the missing part twice.
void Count(Connection& connection, const std::vector<CounterChange>& counters,
           std::vector<UserId>* below_zero) {
  if (counters.empty()) return;
  std::string sql = "INSERT INTO user_fan (user_id, fans_cnt) VALUES ";
  AppendJoined(sql, counters, [](std::string& out, const CounterChange& counter) {
    AppendTuple(out, Raw(counter.user), counter.by);
  });
  connection.Execute(sql + " ON DUPLICATE KEY UPDATE fans_cnt = fans_cnt + VALUES(fans_cnt)");

  std::vector<UserId> lost;
  for (const CounterChange& counter : counters) {
    if (counter.by < 0) lost.push_back(counter.user);
  }
  QueryChunks(
      connection, lost, kListLimit,
      [](std::span<const UserId> chunk) {
        return Sql("SELECT user_id, fans_cnt FROM user_fan FORCE INDEX (PRIMARY) WHERE user_id IN ",
                   InList(chunk));
      },
      [&](const Row& row) {
        if (row.Int64(2) < 0) below_zero->push_back(UserId{row.UInt64(1)});
      });
  MarkForRecount(connection, Counter::kFollowers, *below_zero);
}

// The result for each edge given. Only one edge reports that it wrote the row, the one that the row
// now equals, because a mirror may act on each report.
std::vector<EdgesApplied::Applied> Answers(std::span<const Edge> edges, const Folded& folded) {
  std::unordered_set<EdgeKey> rows;
  for (const Edge& row : folded.rows) rows.insert(row.key());
  std::vector<EdgesApplied::Applied> applied;
  for (size_t i = 0; i < edges.size(); ++i) {
    const uint64_t ver = folded.mirrored[i].ver;
    const bool written = edges[i].ver == ver && rows.erase(edges[i].key()) > 0;
    applied.push_back({ver, written});
  }
  return applied;
}

}  // namespace

ReverseResult ApplyReverse(Connection& connection, std::span<const Edge> edges) {
  ReverseResult result;
  if (edges.empty()) return result;
  for (const Edge& edge : edges) FANLINE_CHECK(edge.ver > 0, "an edge that has a forward row");
  const std::vector<EdgeKey> keys = EdgesToLock(edges);
  Folded folded;
  connection.Transact([&] {
    result.below_zero.clear();
    Lock(connection, keys);
    folded = Fold(edges, ReadLocked(connection, keys));
    if (folded.rows.empty()) return false;
    Write(connection, folded.rows);
    Count(connection, folded.counters, &result.below_zero);
    return true;
  });
  result.applied = Answers(edges, folded);
  return result;
}

}  // namespace fanline::mysql
