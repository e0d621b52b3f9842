#include "backends/mysql/counter_repair.h"

#include <string>

#include "backends/mysql/recounts.h"
#include "backends/mysql/repair_log.h"

namespace fanline::mysql {
namespace {

struct Where {
  const char* table;
  const char* column;
  const char* rows;   // the table whose live rows it counts
  const char* owner;  // by which column
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

Snapshot Read(Connection& connection, const Where& where, const std::string& id) {
  Snapshot seen;
  connection.Query(std::string("SELECT COALESCE(c.") + where.column +
                       ", 0), COALESCE(c.epoch, 0), n.live, c.user_id IS NOT NULL FROM (SELECT " +
                       LiveRowsSql(where, id) + " AS live) AS n LEFT JOIN " + where.table +
                       " AS c ON c.user_id = " + id,
                   [&](const Row& row) {
                     seen = {row.Bool(4), row.Int64(1), row.UInt64(2), row.Int64(3)};
                   });
  return seen;
}

// False: somebody else repaired it since.
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
                                .src = user,
                                .dst = {},
                                .before = column + " " + std::to_string(seen.counter),
                                .after = column + " " + std::to_string(seen.rows),
                                .ver = seen.epoch + 1}));
  return true;
}

}  // namespace

CounterFound RepairOne(Connection& connection, const UserCounter& counter) {
  const Where& where = counter.counter == Counter::kFollowed ? kFollowed : kFollowers;
  const Snapshot seen = Read(connection, where, ToString(counter.user));
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

Status CounterRepair::Repair(const UserCounter& counter, CounterFound* out) {
  return connections_.Run(map_.ShardOf(counter.user),
                          [&](Connection& connection) { *out = RepairOne(connection, counter); });
}

}  // namespace fanline::mysql
