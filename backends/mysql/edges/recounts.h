// Table recount: the counters that are known to be wrong, on the shard of their user. A counter
// below zero is marked by the transaction that finds it (also in change_edge.sql), and a drifted
// one by the sweep. The transaction that repairs a counter removes its mark. All these transactions
// lock the counter's row first, so they lock in the same order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/ports/counter_store.h"

namespace fanline::mysql {

inline void MarkForRecount(Connection& connection, Counter counter, std::span<const UserId> users) {
  if (users.empty()) return;
  std::string sql = "INSERT INTO recount (user_id, counter) VALUES ";
  AppendJoined(sql, users, [&](std::string& out, UserId user) {
    AppendTuple(out, Raw(user), static_cast<int>(counter));
  });
  connection.Execute(sql + " ON DUPLICATE KEY UPDATE user_id = user_id");
}
inline std::vector<UserCounter> MarkedForRecount(Connection& connection, uint32_t limit) {
  return connection.All(
      Sql("SELECT user_id, counter FROM recount ORDER BY at LIMIT ", limit), [](const Row& row) {
        return UserCounter{UserId{row.UInt64(1)}, static_cast<Counter>(row.Int64(2))};
      });
}
inline void Unmark(Connection& connection, const UserCounter& counter) {
  connection.Execute(Sql("DELETE FROM recount WHERE user_id = ", counter.user,
                         " AND counter = ", counter.counter));
}

}  // namespace fanline::mysql
