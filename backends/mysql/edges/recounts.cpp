#include "backends/mysql/edges/recounts.h"

#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {

void MarkForRecount(Connection& connection, Counter counter, std::span<const UserId> users) {
  if (users.empty()) return;
  std::string sql = "INSERT INTO recount (user_id, counter) VALUES ";
  AppendJoined(sql, users, [&](std::string& out, UserId user) {
    AppendTuple(out, Raw(user), static_cast<int>(counter));
  });
  connection.Execute(sql + " ON DUPLICATE KEY UPDATE user_id = user_id");
}

std::vector<UserCounter> MarkedForRecount(Connection& connection, uint32_t limit) {
  return connection.All(
      Sql("SELECT user_id, counter FROM recount ORDER BY at LIMIT ", limit), [](const Row& row) {
        return UserCounter{UserId{row.UInt64(1)}, static_cast<Counter>(row.Int64(2))};
      });
}

void Unmark(Connection& connection, const UserCounter& counter) {
  connection.Execute(Sql("DELETE FROM recount WHERE user_id = ", counter.user,
                         " AND counter = ", counter.counter));
}

}  // namespace fanline::mysql
