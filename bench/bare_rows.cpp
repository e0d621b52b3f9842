#include "bench/bare_rows.h"

#include "backends/mysql/sql/sql_text.h"
#include "bench/round.h"

namespace fanline::bench {
namespace {

using mysql::AppendTuple;

constexpr const char* kGuard =
    " ON DUPLICATE KEY UPDATE state = IF(VALUES(ver) > ver, VALUES(state), state),"
    " pos = IF(VALUES(ver) > ver, VALUES(pos), pos), ver = GREATEST(ver, VALUES(ver))";

void OnEach(mysql::ShardConnections& connections, const ShardMap& map, const std::string& sql) {
  for (Shard shard = 0; shard < map.shards(); ++shard) {
    Must(connections.Run(shard, [&](mysql::Connection& connection) { connection.Execute(sql); }));
  }
}

}  // namespace

void MakeBareTable(mysql::ShardConnections& connections, const ShardMap& map,
                   const std::string& ours) {
  OnEach(connections, map, "CREATE TABLE IF NOT EXISTS bare_" + ours + " LIKE " + ours);
}

std::string UpsertFollowingSql(const Edge& row) {
  std::string sql =
      std::string("INSERT INTO ") + kBareFollowing + " (src, dst, ver, state, pos) VALUES ";
  AppendTuple(sql, Raw(row.src), Raw(row.dst), row.ver, int{row.live}, row.pos);
  return sql + kGuard;
}

std::string UpsertFollowersSql(std::span<const Edge> rows) {
  std::string sql =
      std::string("INSERT INTO ") + kBareFollower + " (dst, bucket, src, ver, state, pos) VALUES ";
  mysql::AppendJoined(sql, rows, [](std::string& out, const Edge& row) {
    AppendTuple(out, Raw(row.dst), BucketOf(row.src), Raw(row.src), row.ver, int{row.live},
                row.pos);
  });
  return sql + kGuard;
}

void OpenAll(mysql::ShardConnections& connections, const ShardMap& map) {
  OnEach(connections, map, "DO 1");
}

std::string Durability(mysql::ShardConnections& connections) {
  std::string text;
  Must(connections.Run(0, [&](mysql::Connection& connection) {
    connection.Query(
        "SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit,"
        " ', innodb_doublewrite=', @@innodb_doublewrite, ', log_bin=', @@log_bin)",
        [&](const mysql::Row& row) { text = row.Text(1); });
  }));
  return text;
}

}  // namespace fanline::bench
