#include "backends/mysql/repairs/repair_log.h"

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {

std::string RepairSql(const LogRepair& repair) {
  return "INSERT INTO repair_log (net, cause, src, dst, before_value, after_value, ver) VALUES (" +
         Quoted(repair.net) + "," + Quoted(repair.cause) + "," + ToString(repair.edge.src) + "," +
         ToString(repair.edge.dst) + "," + Quoted(repair.before) + "," + Quoted(repair.after) +
         "," + std::to_string(repair.ver) + ")";
}

std::vector<LoggedRepair> LastRepairs(Connection& connection, const EdgeKey& edge, uint32_t look_at,
                                      uint32_t most) {
  const std::string sql =
      "SELECT net, cause, before_value, after_value, ver, at FROM (SELECT * FROM repair_log ORDER "
      "BY "
      "id DESC LIMIT " +
      std::to_string(look_at) + ") AS newest WHERE src = " + ToString(edge.src) +
      " AND dst = " + ToString(edge.dst) + " ORDER BY id DESC LIMIT " + std::to_string(most);
  std::vector<LoggedRepair> repairs;
  connection.Query(sql, [&](const Row& row) {
    repairs.push_back({{.net = row.Text(1),
                        .cause = row.Text(2),
                        .edge = edge,
                        .before = row.Text(3),
                        .after = row.Text(4),
                        .ver = row.UInt64(5)},
                       row.Int64(6)});
  });
  return repairs;
}

// The rows are found first and then deleted by key. A DELETE by age would lock the index up to the
// first row that is young enough, or to its end, where repairs are being added.
uint64_t PurgeRepairLog(Connection& connection, std::chrono::seconds keep, uint32_t most) {
  std::vector<uint64_t> old;
  connection.Query(
      "SELECT id FROM repair_log FORCE INDEX (by_time) WHERE at < "
      "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000) - " +
          std::to_string(std::chrono::milliseconds(keep).count()) + " ORDER BY at LIMIT " +
          std::to_string(most),
      [&](const Row& row) { old.push_back(row.UInt64(1)); });
  uint64_t deleted = 0;
  ForEachChunk(old, kIdsLimit, [&](std::span<const uint64_t> chunk) {
    std::string sql = "DELETE FROM repair_log WHERE id IN ";
    AppendInList(sql, chunk);
    deleted += connection.Execute(sql);
  });
  return deleted;
}

}  // namespace fanline::mysql
