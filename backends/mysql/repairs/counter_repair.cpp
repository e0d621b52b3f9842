#include "backends/mysql/repairs/counter_repair.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/repairs/repair_log.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

struct Where {
  const char* table;
  const char* column;
  const char* rows;   // the table whose live rows it counts
  const char* owner;  // that column of it
};

constexpr Where kFollowed = {"user_rel", "following_cnt", "following", "src"};
constexpr Where kFollowers = {"user_fan", "fans_cnt", "follower", "dst"};

std::string LiveRowsSql(const Where& where, const std::string& user) {
  return std::string("(SELECT COUNT(*) FROM ") + where.rows +
         " FORCE INDEX (newest) WHERE state = 1 AND " + where.owner + " = " + user + ")";
}

struct Snapshot {
  bool has_row = false;
  int64_t counter = 0;
  uint64_t epoch = 0;
  int64_t rows = 0;
};

std::string Bounded(double seconds) {
  return "SET STATEMENT max_statement_time = " + std::to_string(seconds) + " FOR ";
}

Snapshot ReadAtOnce(Connection& connection, const Where& where, const std::string& id,
                    const std::string& live, double seconds) {
  Snapshot seen;
  connection.Query(Bounded(seconds) + "SELECT COALESCE(c." + where.column +
                       ", 0), COALESCE(c.epoch, 0), n.live, c.user_id IS NOT NULL FROM (SELECT " +
                       live + " AS live) AS n LEFT JOIN " + where.table +
                       " AS c ON c.user_id = " + id,
                   [&](const Row& row) {
                     seen = {row.Bool(4), row.Int64(1), row.UInt64(2), row.Int64(3)};
                   });
  return seen;
}

// Divides followers by bucket, and followed users by the first bits of their ids.
std::vector<std::string> Pieces(const Where& where, const std::string& id) {
  constexpr uint32_t kPieces = 64;
  const bool followers = std::string_view(where.rows) == "follower";
  std::vector<std::string> pieces;
  for (uint64_t i = 0; i < kPieces; ++i) {
    const uint64_t size = followers ? kBuckets / kPieces : (uint64_t{1} << 58);
    const uint64_t first = i * size;
    pieces.push_back(std::string("SELECT COUNT(*) FROM ") + where.rows +
                     " FORCE INDEX (PRIMARY) WHERE state = 1 AND " + where.owner + " = " + id +
                     (followers ? " AND bucket >= " : " AND dst >= ") + std::to_string(first) +
                     (followers ? " AND bucket <= " : " AND dst <= ") +
                     std::to_string(first + (size - 1)));
  }
  return pieces;
}

Snapshot ReadInPieces(Connection& connection, const Where& where, const std::string& id,
                      double seconds) {
  Snapshot seen;
  connection.Execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");  // the next one only
  connection.Transact([&] {
    seen = ReadAtOnce(connection, where, id, "0", seconds);
    for (const std::string& piece : Pieces(where, id)) {
      connection.Query(Bounded(seconds) + piece,
                       [&](const Row& row) { seen.rows += row.Int64(1); });
    }
    return false;  // nothing was written
  });
  return seen;
}

Snapshot Read(Connection& connection, const Where& where, const std::string& id, double seconds) {
  constexpr int kStatementTimeout = 1969;
  try {
    return ReadAtOnce(connection, where, id, LiveRowsSql(where, id), seconds);
  } catch (const MysqlError& error) {
    if (error.code() != kStatementTimeout) throw;
  }
  return ReadInPieces(connection, where, id, kStatementSeconds);
}

// Columns: user, whether followers are counted, counter, live rows. The last two come in separate
// rows, with 0 in place of the other.
std::string LookSql(const Where& where, bool of_followers, const std::string& users) {
  const std::string owner = where.owner, which = of_followers ? "1" : "0";
  return "SELECT user_id, " + which + ", " + where.column + ", 0 FROM " + where.table +
         " WHERE user_id IN " + users + " UNION ALL SELECT " + owner + ", " + which +
         ", 0, COUNT(*) FROM " + where.rows + " FORCE INDEX (newest) WHERE state = 1 AND " + owner +
         " IN " + users + " GROUP BY " + owner;
}

// Returns false if another repair was faster.
bool Add(Connection& connection, const Where& where, UserId user, const Snapshot& seen) {
  const std::string id = ToString(user), table = where.table, column = where.column;
  if (!seen.has_row) {
    connection.Execute("INSERT INTO " + table + " (user_id) VALUES (" + id +
                       ") ON DUPLICATE KEY UPDATE user_id = user_id");
  }
  if (connection.Execute("UPDATE " + table + " SET " + column + " = " + column + " + (" +
                         std::to_string(seen.rows - seen.counter) +
                         "), epoch = epoch + 1 WHERE user_id = " + id +
                         " AND epoch = " + std::to_string(seen.epoch)) != 1) {
    return false;
  }
  connection.Execute(RepairSql({.net = "counter",
                                .cause = "drift",
                                .edge = {user, {}},
                                .before = column + " " + std::to_string(seen.counter),
                                .after = column + " " + std::to_string(seen.rows),
                                .ver = seen.epoch + 1}));
  return true;
}

}  // namespace

CounterFound CountOne(Connection& connection, const UserCounter& counter,
                      double statement_seconds) {
  const Where& where = counter.counter == Counter::kFollowed ? kFollowed : kFollowers;
  const Snapshot seen = Read(connection, where, ToString(counter.user), statement_seconds);
  return {seen.counter, seen.rows};
}

CounterFound RepairOne(Connection& connection, const UserCounter& counter) {
  const Where& where = counter.counter == Counter::kFollowed ? kFollowed : kFollowers;
  const Snapshot seen = Read(connection, where, ToString(counter.user), kStatementSeconds);
  CounterFound found{seen.counter, seen.rows};
  if (found.drift() == 0) {
    Unmark(connection, counter);
    return found;
  }
  connection.Transact([&] {
    found.repaired = Add(connection, where, counter.user, seen);
    if (found.repaired) Unmark(connection, counter);
    return found.repaired;
  });
  return found;
}

std::vector<CountersSeen> LookAt(Connection& connection, std::span<const UserId> users) {
  std::vector<CountersSeen> seen_by_user;
  if (users.empty()) return seen_by_user;
  std::string ids;
  AppendInList(ids, users);
  for (const UserId user : users) seen_by_user.push_back({user, {}, {}});
  const std::string sql =
      LookSql(kFollowed, false, ids) + " UNION ALL " + LookSql(kFollowers, true, ids);
  connection.Query(sql, [&](const Row& row) {
    const auto at = std::lower_bound(users.begin(), users.end(), UserId{row.UInt64(1)});
    CountersSeen& seen = seen_by_user[static_cast<size_t>(at - users.begin())];
    CounterFound& found = row.Bool(2) ? seen.followers : seen.followed;
    found.counter += row.Int64(3);
    found.rows += row.Int64(4);
  });
  return seen_by_user;
}

}  // namespace fanline::mysql
