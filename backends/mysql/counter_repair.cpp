#include "backends/mysql/counter_repair.h"

#include <string>

#include "backends/mysql/repair_log.h"

namespace fanline::mysql {

struct CounterRepair::Counter {
  const char* table;
  const char* column;
  const char* rows;   // the table whose live rows it counts
  const char* owner;  // by which column
};

const CounterRepair::Counter CounterRepair::kFollowing = {"user_rel", "following_cnt", "following",
                                                          "src"};
const CounterRepair::Counter CounterRepair::kFollowers = {"user_fan", "fans_cnt", "follower",
                                                          "dst"};

namespace {

std::string LiveRowsSql(const char* rows, const char* owner, const std::string& user) {
  return std::string("(SELECT COUNT(*) FROM ") + rows +
         " FORCE INDEX (newest) WHERE state = 1 AND " + owner + " = " + user + ")";
}

struct Snapshot {
  bool has_row = false;
  int64_t counter = 0;
  uint64_t epoch = 0;
  int64_t rows = 0;
};

}  // namespace

Status CounterRepair::Following(UserId user, CounterRepaired* out) {
  return Repair(kFollowing, user, out);
}
Status CounterRepair::Followers(UserId user, CounterRepaired* out) {
  return Repair(kFollowers, user, out);
}

Status CounterRepair::Repair(const Counter& counter, UserId user, CounterRepaired* out) {
  const std::string id = ToString(user), table = counter.table, column = counter.column;
  const std::string read =
      "SELECT COALESCE(c." + column +
      ", 0), COALESCE(c.epoch, 0), n.live, c.user_id IS NOT NULL FROM (SELECT " +
      LiveRowsSql(counter.rows, counter.owner, id) + " AS live) AS n LEFT JOIN " + table +
      " AS c ON c.user_id = " + id;
  return connections_.Run(map_.ShardOf(user), [&](Connection& connection) {
    *out = {};
    Snapshot seen;
    connection.Query(read, [&](const Row& row) {
      seen = {row.Bool(4), row.Int64(1), row.UInt64(2), row.Int64(3)};
    });
    out->counter = seen.counter;
    out->rows = seen.rows;
    if (out->drift() == 0) return;
    connection.Transact([&] {
      if (!seen.has_row) {
        connection.Execute("INSERT INTO " + table + " (user_id) VALUES (" + id +
                           ") ON DUPLICATE KEY UPDATE user_id = user_id");
      }
      const std::string drift = std::to_string(out->drift());
      out->repaired =
          connection.Execute("UPDATE " + table + " SET " + column + " = " + column + " + (" +
                             drift + "), epoch = epoch + 1 WHERE user_id = " + id +
                             " AND epoch = " + std::to_string(seen.epoch)) == 1;
      if (!out->repaired) return false;
      connection.Execute(RepairSql({.net = "counter",
                                    .cause = "drift",
                                    .src = user,
                                    .dst = {},
                                    .before = column + " " + std::to_string(seen.counter),
                                    .after = column + " " + std::to_string(seen.rows),
                                    .ver = seen.epoch + 1}));
      return true;
    });
  });
}

}  // namespace fanline::mysql
