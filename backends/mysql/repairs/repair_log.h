// Table repair_log: a record of repairs for later questions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/time.h"
#include "fanline/model/edge.h"
#include "fanline/ports/repair_store.h"

namespace fanline::mysql {

// For a counter, net is "counter", cause "drift", edge.src the user, edge.dst 0, ver its epoch.
inline std::string RepairSql(const LogRepair& repair) {
  return Sql(
      "INSERT INTO repair_log (net, cause, src, dst, before_value, after_value, ver) VALUES (",
      Quoted(repair.net), ",", Quoted(repair.cause), ",", repair.edge.src, ",", repair.edge.dst,
      ",", Quoted(repair.before), ",", Quoted(repair.after), ",", repair.ver, ")");
}

struct LoggedRepair {
  LogRepair repair;
  UnixMs at = 0;  // the server's clock
};

// The last `most` repairs that `which` selects, newest first, for a person who asks. It searches
// the newest `look_at` rows of the shard, since there is no index on edges. Throws MysqlError.
[[nodiscard]] inline std::vector<LoggedRepair> NewestRepairs(Connection& connection,
                                                             const std::string& which,
                                                             uint32_t look_at, uint32_t most) {
  return connection.All(
      Sql("SELECT net, cause, src, dst, before_value, after_value, ver, at FROM (SELECT * FROM"
          " repair_log ORDER BY id DESC LIMIT ",
          look_at, ") AS newest WHERE ", which, " ORDER BY id DESC LIMIT ", most),
      [](const Row& row) {
        return LoggedRepair{{.net = row.Text(1),
                             .cause = row.Text(2),
                             .edge = {UserId{row.UInt64(3)}, UserId{row.UInt64(4)}},
                             .before = row.Text(5),
                             .after = row.Text(6),
                             .ver = row.UInt64(7)},
                            row.Int64(8)};
      });
}

// Of one edge.
[[nodiscard]] inline std::vector<LoggedRepair> LastRepairs(Connection& connection,
                                                           const EdgeKey& edge, uint32_t look_at,
                                                           uint32_t most) {
  return NewestRepairs(connection, Sql("src = ", edge.src, " AND dst = ", edge.dst), look_at, most);
}

// Of all edges of a user, and of the user's counters.
[[nodiscard]] inline std::vector<LoggedRepair> LastRepairsOf(Connection& connection, UserId user,
                                                             uint32_t look_at, uint32_t most) {
  return NewestRepairs(connection, Sql("(src = ", user, " OR dst = ", user, ")"), look_at, most);
}

}  // namespace fanline::mysql
