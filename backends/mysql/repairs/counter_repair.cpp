#include "backends/mysql/repairs/counter_repair.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/repairs/repair_log.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/server.h"
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

const Where& WhereOf(Counter counter) {
  return counter == Counter::kFollowed ? kFollowed : kFollowers;
}

struct Snapshot {
  bool has_row = false;
  int64_t counter = 0;
  uint64_t epoch = 0;
  int64_t rows = 0;
};

Snapshot ReadAtOnce(Connection& connection, const Where& where, UserId user,
                    const std::string& live, std::chrono::milliseconds limit) {
  Snapshot seen;
  connection.Query(
      Limited(limit,
              Sql("SELECT COALESCE(c.", where.column,
                  ", 0), COALESCE(c.epoch, 0), n.live, c.user_id IS NOT NULL FROM (SELECT ", live,
                  " AS live) AS n LEFT JOIN ", where.table, " AS c ON c.user_id = ", user)),
      [&](const Row& row) {
        seen = {row.Bool(4), row.Int64(1), row.UInt64(2), row.Int64(3)};
      });
  return seen;
}

// Divides followers by bucket, and followed users by the first bits of their ids.
Snapshot ReadInPieces(Connection& connection, const Where& where, UserId user) {
  constexpr uint64_t kPieces = 64;
  const bool followers = &where == &kFollowers;
  const uint64_t size = followers ? kBuckets / kPieces : (uint64_t{1} << 58);
  const char* const by = followers ? " AND bucket " : " AND dst ";
  Snapshot seen;
  connection.Execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");  // the next one only
  connection.Transact([&] {
    seen = ReadAtOnce(connection, where, user, "0", kStatementLimit);
    for (uint64_t i = 0; i < kPieces; ++i) {
      connection.Query(Limited(kStatementLimit, Sql("SELECT COUNT(*) FROM ", where.rows,
                                                    " FORCE INDEX (PRIMARY) WHERE state = 1 AND ",
                                                    where.owner, " = ", user, by, ">= ", i * size,
                                                    by, "<= ", i * size + (size - 1))),
                       [&](const Row& row) { seen.rows += row.Int64(1); });
    }
    return false;  // nothing was written
  });
  return seen;
}

Snapshot Read(Connection& connection, const UserCounter& counter, std::chrono::milliseconds limit) {
  const Where& where = WhereOf(counter.counter);
  const std::string live =
      Sql("(SELECT COUNT(*) FROM ", where.rows, " FORCE INDEX (newest) WHERE state = 1 AND ",
          where.owner, " = ", counter.user, ")");
  try {
    return ReadAtOnce(connection, where, counter.user, live, limit);
  } catch (const MysqlError& error) {
    if (!IsTimeLimit(error.code())) throw;
  }
  return ReadInPieces(connection, where, counter.user);
}

// Columns: user, whether followers are counted, counter, live rows. The last two come in separate
// rows, with 0 in place of the other.
std::string LookSql(const Where& where, bool of_followers, const std::string& users) {
  return Sql("SELECT user_id, ", of_followers, ", ", where.column, ", 0 FROM ", where.table,
             " WHERE user_id IN ", users, " UNION ALL SELECT ", where.owner, ", ", of_followers,
             ", 0, COUNT(*) FROM ", where.rows, " FORCE INDEX (newest) WHERE state = 1 AND ",
             where.owner, " IN ", users, " GROUP BY ", where.owner);
}

// Returns false if another repair was faster.
bool Add(Connection& connection, const Where& where, UserId user, const Snapshot& seen) {
  const auto& [table, column, rows, owner] = where;
  if (!seen.has_row) {
    connection.Execute(Sql("INSERT INTO ", table, " (user_id) VALUES (", user,
                           ") ON DUPLICATE KEY UPDATE user_id = user_id"));
  }
  if (connection.Execute(
          Sql("UPDATE ", table, " SET ", column, " = ", column, " + (", seen.rows - seen.counter,
              "), epoch = epoch + 1 WHERE user_id = ", user, " AND epoch = ", seen.epoch)) != 1) {
    return false;
  }
  connection.Execute(RepairSql({.net = "counter",
                                .cause = "drift",
                                .edge = {user, {}},
                                .before = Sql(column, " ", seen.counter),
                                .after = Sql(column, " ", seen.rows),
                                .ver = seen.epoch + 1}));
  return true;
}

// Each with the column of the user.
constexpr std::pair<const char*, const char*> kTables[] = {
    {"user_rel", "user_id"}, {"user_fan", "user_id"}, {"following", "src"}, {"follower", "dst"}};

// Reads the owners among the next rows of every table. Columns: number of the table, owner, rows
// read.
std::string OwnersSql(UserId after, uint32_t rows) {
  std::string sql;
  for (size_t i = 0; i < std::size(kTables); ++i) {
    const auto& [name, owner] = kTables[i];
    AppendSql(sql, sql.empty() ? "SELECT " : " UNION ALL SELECT ", i,
              ", owner, COUNT(*) FROM (SELECT ", owner, " AS owner FROM ", name,
              " FORCE INDEX (PRIMARY) WHERE ", owner, " > ", after, " ORDER BY ", owner, " LIMIT ",
              rows, ") AS t", i, " GROUP BY owner");
  }
  return sql;
}

}  // namespace

CounterFound CountOne(Connection& connection, const UserCounter& counter,
                      std::chrono::milliseconds limit) {
  const Snapshot seen = Read(connection, counter, limit);
  return {seen.counter, seen.rows};
}

CounterFound RepairOne(Connection& connection, const UserCounter& counter) {
  const Snapshot seen = Read(connection, counter, kStatementLimit);
  CounterFound found{seen.counter, seen.rows};
  if (found.drift() == 0) {
    Unmark(connection, counter);
    return found;
  }
  connection.Transact([&] {
    found.repaired = Add(connection, WhereOf(counter.counter), counter.user, seen);
    if (found.repaired) Unmark(connection, counter);
    return found.repaired;
  });
  return found;
}

std::vector<CountersSeen> LookAt(Connection& connection, std::span<const UserId> users) {
  std::vector<CountersSeen> seen_by_user;
  if (users.empty()) return seen_by_user;
  const std::string ids = InList(users);
  for (const UserId user : users) seen_by_user.push_back({user, {}, {}});
  const std::string sql =
      LookSql(kFollowed, false, ids) + " UNION ALL " + LookSql(kFollowers, true, ids);
  connection.Query(sql, [&](const Row& row) {
    const UserId user{row.UInt64(1)};
    const auto at = std::lower_bound(users.begin(), users.end(), user);
    if (at == users.end() || *at != user) return;  // a server's mistake must not be another's count
    CountersSeen& seen = seen_by_user[static_cast<size_t>(at - users.begin())];
    CounterFound& found = row.Bool(2) ? seen.followers : seen.followed;
    found.counter += row.Int64(3);
    found.rows += row.Int64(4);
  });
  return seen_by_user;
}

// If a table has more rows than were read, its owners are known only up to the last one read. The
// lowest of these bounds what is known of the shard. Owners above it are read again.
OwnersPage ReadOwners(Connection& connection, const ShardMap& map, UserId after, uint32_t rows) {
  OwnersPage page;
  struct Part {
    uint64_t rows = 0;
    UserId last{};  // its owner
  };
  std::array<Part, std::size(kTables)> reads{};
  connection.Query(OwnersSql(after, rows), [&](const Row& row) {
    Part& read = reads[row.UInt64(1)];
    page.owners.push_back(UserId{row.UInt64(2)});
    read.rows += row.UInt64(3);
    read.last = std::max(read.last, page.owners.back());
  });
  for (const Part& read : reads) {
    if (read.rows == rows) page.known = std::min(page.known.value_or(read.last), read.last);
  }
  SortUnique(page.owners);
  std::erase_if(page.owners, [&](UserId owner) {
    return (page.known && owner > *page.known) || map.ShardOf(owner) != connection.shard();
  });
  return page;
}

}  // namespace fanline::mysql
