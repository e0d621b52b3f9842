#include "backends/mysql/forward_edges.h"

#include <limits>
#include <optional>
#include <string>

#include "backends/mysql/sql_text.h"

namespace fanline::mysql {
namespace {

// Of change_edge.sql.
enum Outcome : int64_t { kSoAlready = 0, kChanged = 1, kOverLimit = 2 };

UnixMs PosOf(const EdgeChange& change) { return static_cast<UnixMs>(change.unix_us / 1000); }

std::string FollowSql(const EdgeChange& change, uint32_t most_followed) {
  std::string sql = "CALL follow_edge(";
  AppendId(sql, change.src);
  sql += ',';
  AppendId(sql, change.dst);
  sql += ',';
  AppendNumber(sql, change.unix_us);
  sql += ',';
  AppendNumber(sql, most_followed);
  sql += ')';
  return sql;
}

std::string ChangeSql(const EdgeChange& change, uint32_t most_followed) {
  std::string sql = "CALL change_edge(";
  AppendId(sql, change.src);
  sql += ',';
  AppendId(sql, change.dst);
  sql += change.live ? ",1," : ",0,";
  AppendNumber(sql, change.unix_us);
  sql += ',';
  AppendNumber(sql, PosOf(change));
  sql += ',';
  AppendNumber(sql, static_cast<int>(change.origin));
  sql += ',';
  AppendNumber(sql, change.origin_version);
  sql += ',';
  AppendNumber(sql, change.origin == Origin::kFriendship ? std::numeric_limits<int64_t>::max()
                                                         : int64_t{most_followed});
  sql += ')';
  return sql;
}

// The short way of a follow; nothing when it could not be taken, and nothing was changed.
std::optional<ForwardChanged> FollowNew(Connection& connection, const EdgeChange& change,
                                        uint32_t most_followed) {
  bool made = true;
  connection.Call(FollowSql(change, most_followed), [&](const Row&) { made = false; });
  if (!made) return std::nullopt;
  return ForwardChanged{.edge = {change.src, change.dst, change.unix_us, true, PosOf(change)},
                        .changed = true};
}

ForwardChanged ChangeAny(Connection& connection, const EdgeChange& change, uint32_t most_followed) {
  ForwardChanged out;
  connection.Call(ChangeSql(change, most_followed), [&](const Row& row) {
    out.changed = row.Int64(1) == kChanged;
    out.over_limit = row.Int64(1) == kOverLimit;
    out.edge = {change.src, change.dst, row.UInt64(2), row.Bool(3), row.Int64(4)};
    out.below_zero = row.Bool(5);
  });
  return out;
}

ForwardChanged ChangeEither(Connection& connection, const EdgeChange& change,
                            uint32_t most_followed) {
  if (change.live && change.origin == Origin::kUser) {
    if (const auto made = FollowNew(connection, change, most_followed)) return *made;
  }
  return ChangeAny(connection, change, most_followed);
}

uint64_t LastInsertId(Connection& connection) {
  uint64_t id = 0;
  connection.Query("SELECT LAST_INSERT_ID()", [&](const Row& row) { id = row.UInt64(1); });
  return id;
}

}  // namespace

Status CheckEdgeIds(UserId src, UserId dst) {
  if (!IsValidId(Raw(src)) || !IsValidId(Raw(dst))) {
    return Status::Never("0 and 2^64-1 are no user ids");
  }
  if (src == dst) return Status::Never("nobody follows themselves");
  return Status::Done();
}

ForwardChanged ChangeForward(Connection& connection, const EdgeChange& change,
                             uint32_t most_followed, uint64_t* log_id) {
  const ForwardChanged changed = ChangeEither(connection, change, most_followed);
  if (log_id != nullptr) *log_id = changed.changed ? LastInsertId(connection) : 0;
  return changed;
}

uint64_t AnnounceFriendship(Connection& connection, const EdgeKey& edge, uint64_t version) {
  const std::string src = ToString(edge.src), dst = ToString(edge.dst);
  uint64_t settled = 0;
  connection.Transact([&] {
    const bool made =
        connection.Execute(
            "INSERT INTO following (src, dst, ver, state, pos, friend_announced) VALUES (" + src +
            "," + dst + ",1,0,0," + std::to_string(version) +
            ") ON DUPLICATE KEY UPDATE"
            " friend_announced = GREATEST(friend_announced, VALUES(friend_announced))") == 1;
    if (made) {
      connection.Execute("INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (1," + src +
                         "," + dst + ",1,0,0)");
    }
    connection.Query(
        "SELECT friend_version FROM following WHERE src = " + src + " AND dst = " + dst,
        [&](const Row& row) { settled = row.UInt64(1); });
    return true;
  });
  return settled;
}

Status StatusOf(const ForwardChanged& changed, uint32_t most_followed) {
  if (!changed.over_limit) return Status::Done();
  return Status::Never("follows " + std::to_string(most_followed) + " already");
}

Status ForwardEdges::Change(const EdgeChange& change, ForwardChanged* out, uint64_t* log_id) {
  *out = {};
  if (log_id != nullptr) *log_id = 0;
  if (Status status = CheckEdgeIds(change.src, change.dst); !status.done()) return status;
  Status status = connections_.Run(map_.ShardOf(change.src), [&](Connection& connection) {
    *out = ChangeForward(connection, change, most_followed_, log_id);
  });
  return status.done() ? mysql::StatusOf(*out, most_followed_) : status;
}

}  // namespace fanline::mysql
