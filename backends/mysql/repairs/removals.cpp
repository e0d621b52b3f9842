#include "backends/mysql/repairs/removals.h"

#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {

uint32_t TakeFromAllowance(Connection& connection, const std::string& edges,
                           const TakeRemovals& request) {
  const std::string name = Quoted(edges), shard = std::to_string(request.shard);
  const std::string key = " WHERE edges = " + name + " AND shard = " + shard;
  uint32_t granted = 0;
  connection.Transact([&] {
    // Creates the row or locks it in one statement. With a shared lock first, two callers that
    // upgrade it would deadlock.
    connection.Execute("INSERT INTO removal_allowance (edges, shard) VALUES (" + name + ", " +
                       shard + ") ON DUPLICATE KEY UPDATE taken = taken");
    RemovalAllowance kept;
    UnixMs now = 0;
    connection.Query(
        "SELECT began, taken, opened, FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000) FROM removal_allowance" +
            key + " FOR UPDATE",
        [&](const Row& row) {
          kept = {row.Int64(1), row.UInt64(2), row.UInt64(3)};
          now = row.Int64(4);
        });
    granted = Take(kept, request, now);
    connection.Execute("UPDATE removal_allowance SET began = " + std::to_string(kept.began) +
                       ", taken = " + std::to_string(kept.taken) +
                       ", opened = " + std::to_string(kept.opened) + key);
    return true;
  });
  return granted;
}

}  // namespace fanline::mysql
