#include "backends/mysql/edges/recounts.h"

#include <string>

#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

int Number(Counter counter) { return static_cast<int>(counter); }

}  // namespace

void MarkForRecount(Connection& connection, Counter counter, std::span<const UserId> users) {
  if (users.empty()) return;
  std::string sql = "INSERT INTO recount (user_id, counter) VALUES ";
  AppendJoined(sql, users, [&](std::string& out, UserId user) {
    AppendTuple(out, Raw(user), Number(counter));
  });
  connection.Execute(sql + " ON DUPLICATE KEY UPDATE user_id = user_id");
}

std::vector<UserCounter> MarkedForRecount(Connection& connection, uint32_t limit) {
  std::vector<UserCounter> counters;
  std::string sql = "SELECT user_id, counter FROM recount ORDER BY at";
  AppendLimit(sql, limit);
  connection.Query(sql, [&](const Row& row) {
    counters.push_back({UserId{row.UInt64(1)}, static_cast<Counter>(row.Int64(2))});
  });
  return counters;
}

void Unmark(Connection& connection, const UserCounter& counter) {
  std::string sql = "DELETE FROM recount WHERE user_id = ";
  AppendId(sql, counter.user);
  sql += " AND counter = ";
  AppendNumber(sql, Number(counter.counter));
  connection.Execute(sql);
}

}  // namespace fanline::mysql
