#include "backends/mysql/tools/forward_restore.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"

namespace fanline::mysql {
namespace {

constexpr const char* kInsertForward =
    "INSERT INTO following (src, dst, ver, state, pos, delivery) VALUES ";

std::string ForwardInsert(const std::vector<Edge>& rows) {
  std::string sql = kInsertForward;
  AppendJoined(sql, rows, [](std::string& out, const Edge& row) {
    AppendTuple(out, Raw(row.src), Raw(row.dst), row.ver, int{row.live}, row.pos,
                static_cast<int>(row.delivery));
  });
  return sql;
}

std::vector<EdgeKey> KeysOf(const std::vector<Edge>& rows) {
  std::vector<EdgeKey> keys;
  for (const Edge& row : rows) keys.push_back(row.key());
  return keys;
}

// Counts what becomes of `forward`; returns whether it is behind.
bool CountRow(const EdgeState& reverse, const EdgeState& forward, ForwardRestored& count) {
  if (Wins(reverse, forward)) {
    ++(forward.ver == 0 ? count.made : count.raised);
    return true;
  }
  ++(forward == reverse ? count.equal : forward.ver == reverse.ver ? count.differing : count.ahead);
  return false;
}

// Locks in the order of change_edge.sql, so that two writers wait for each other: the counters of
// the users, then the rows, each kind in key order. Rows that are missing are made, or a follow
// could make them in between.
std::unordered_map<EdgeKey, EdgeState> LockForward(Connection& connection,
                                                   const std::vector<Edge>& rows) {
  std::string users = "INSERT INTO user_rel (user_id) VALUES ";
  std::vector<UserId> ids;
  for (const Edge& row : rows) ids.push_back(row.src);
  SortUnique(ids);
  AppendJoined(users, ids, [](std::string& out, UserId user) { AppendTuple(out, Raw(user)); });
  connection.Execute(users + " ON DUPLICATE KEY UPDATE user_id = user_id");

  std::vector<Edge> none;
  for (const Edge& row : rows) none.push_back(EdgeOf(row.key(), {}));
  connection.Execute(ForwardInsert(none) + " ON DUPLICATE KEY UPDATE ver = ver");

  std::unordered_map<EdgeKey, EdgeState> found;
  connection.Query(ForwardRowsSql(KeysOf(rows)) + " ORDER BY src, dst FOR UPDATE",
                   [&](const Row& row) {
                     const Edge edge = EdgeFrom(row, 1);
                     found[edge.key()] = edge.state();
                   });
  return found;
}

// Nothing is clamped: what is below zero is marked, as everywhere.
void CountFollowed(Connection& connection, const std::map<UserId, int64_t>& changes) {
  if (changes.empty()) return;
  std::string sql = "INSERT INTO user_rel (user_id, following_cnt) VALUES ";
  AppendJoined(sql, changes, [](std::string& out, const auto& change) {
    AppendTuple(out, Raw(change.first), change.second);
  });
  connection.Execute(
      sql + " ON DUPLICATE KEY UPDATE following_cnt = following_cnt + VALUES(following_cnt)");
  std::vector<UserId> lost;
  for (const auto& [user, by] : changes) {
    if (by < 0) lost.push_back(user);
  }
  std::vector<UserId> below_zero;
  QueryChunks(
      connection, lost, kListLimit,
      [](std::span<const UserId> chunk) {
        return Sql(
            "SELECT user_id, following_cnt FROM user_rel FORCE INDEX (PRIMARY) WHERE"
            " user_id IN ",
            InList(chunk));
      },
      [&](const Row& row) {
        if (row.Int64(2) < 0) below_zero.push_back(UserId{row.UInt64(1)});
      });
  MarkForRecount(connection, Counter::kFollowed, below_zero);
}

// `rows` were behind when they were read without a lock.
ForwardRestored WriteForward(Connection& connection, const std::vector<Edge>& rows) {
  ForwardRestored count;
  connection.Transact([&] {
    count = {};
    const auto before = LockForward(connection, rows);
    std::vector<Edge> written;
    std::map<UserId, int64_t> changes;
    for (const Edge& row : rows) {
      const auto found = before.find(row.key());
      FANLINE_CHECK(found != before.end(), "a row that was locked is there");
      if (!CountRow(row.state(), found->second, count)) continue;
      written.push_back(row);
      if (const int by = Transition(found->second, row.state()); by != 0) changes[row.src] += by;
    }
    if (written.empty()) return false;
    connection.Execute(ForwardInsert(written) +
                       " ON DUPLICATE KEY UPDATE ver = VALUES(ver), state = VALUES(state),"
                       " pos = VALUES(pos), delivery = VALUES(delivery)");
    std::erase_if(changes, [](const auto& change) { return change.second == 0; });
    CountFollowed(connection, changes);
    return true;
  });
  return count;
}

}  // namespace

// The rest of one bucket, the rest of its author, then further authors. Each is a range of the
// primary key; a comparison of whole keys would read far more (follower_pages.cpp).
std::vector<Edge> FollowersBehind(Connection& connection, const FollowerPlace& after,
                                  uint32_t limit) {
  std::vector<Edge> rows;
  const auto read = [&](const std::string& where) {
    if (rows.size() >= limit) return;
    connection.Query(Sql("SELECT src, dst, ver, state, pos, delivery FROM follower FORCE INDEX"
                         " (PRIMARY) WHERE ",
                         where, " ORDER BY dst, bucket, src LIMIT ", limit - rows.size()),
                     [&](const Row& row) { rows.push_back(EdgeFrom(row, 1)); });
  };
  if (after.dst != UserId{}) {
    read(Sql("dst = ", after.dst, " AND bucket = ", after.bucket, " AND src > ", after.src));
    read(Sql("dst = ", after.dst, " AND bucket > ", after.bucket));
  }
  read(Sql("dst > ", after.dst));
  return rows;
}

ForwardRestored& ForwardRestored::operator+=(const ForwardRestored& other) {
  made += other.made;
  raised += other.raised;
  equal += other.equal;
  ahead += other.ahead;
  differing += other.differing;
  return *this;
}

ForwardRestored RestoreForward(Connection& connection, const std::vector<Edge>& reverse,
                               bool apply) {
  FANLINE_CHECK(reverse.size() <= kListLimit, "as many rows as one statement takes");
  const std::vector<EdgeState> forward = StatesOf(connection, KeysOf(reverse), ForwardRowsSql);
  ForwardRestored count, would;
  std::vector<Edge> behind;
  for (size_t i = 0; i < reverse.size(); ++i) {
    if (!IsKnown(reverse[i].delivery)) {
      ++count.differing;
      continue;
    }
    const bool lags = Wins(reverse[i].state(), forward[i]);
    (void)CountRow(reverse[i].state(), forward[i], lags ? would : count);
    if (lags) behind.push_back(reverse[i]);
  }
  if (behind.empty()) return count;
  return count += apply ? WriteForward(connection, behind) : would;
}

std::map<Shard, RestorePlace> ReadRestorePlaces(Connection& connection) {
  std::map<Shard, RestorePlace> places;
  connection.Query(
      "SELECT reverse_shard, dst, bucket, src, is_over, began FROM forward_restore",
      [&](const Row& row) {
        places[static_cast<Shard>(row.UInt64(1))] = {
            {UserId{row.UInt64(2)}, static_cast<Bucket>(row.UInt64(3)), UserId{row.UInt64(4)}},
            row.Bool(5),
            row.Int64(6)};
      });
  return places;
}

void MoveRestorePlace(Connection& connection, Shard reverse, const FollowerPlace& after,
                      bool over) {
  connection.Execute(
      Sql("INSERT INTO forward_restore (reverse_shard, dst, bucket, src, is_over)"
          " VALUES (",
          reverse, ",", after.dst, ",", after.bucket, ",", after.src, ",", over,
          ") ON DUPLICATE KEY UPDATE dst = VALUES(dst), bucket = VALUES(bucket),"
          " src = VALUES(src), is_over = VALUES(is_over)"));
}

void ForgetRestorePlaces(Connection& connection) {
  connection.Execute("DELETE FROM forward_restore");
}

// A sweep that is under way finds its place moved, and begins again (counter_store.cpp).
void SweepCountersAnew(Connection& connection) {
  connection.Execute("UPDATE counter_sweep SET began = 0, after_user = 0");
}

}  // namespace fanline::mysql
