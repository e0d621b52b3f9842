#include "backends/mysql/repair_log.h"

#include "backends/mysql/sql_text.h"

namespace fanline::mysql {

std::string RepairSql(const Repair& repair) {
  return "INSERT INTO repair_log (net, cause, src, dst, before_value, after_value, ver) VALUES (" +
         Quoted(repair.net) + "," + Quoted(repair.cause) + "," + ToString(repair.src) + "," +
         ToString(repair.dst) + "," + Quoted(repair.before) + "," + Quoted(repair.after) + "," +
         std::to_string(repair.ver) + ")";
}

std::vector<LoggedRepair> LastRepairs(Connection& connection, const fanline::EdgeKey& edge,
                                      uint32_t look_at, uint32_t most) {
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
                        .src = edge.src,
                        .dst = edge.dst,
                        .before = row.Text(3),
                        .after = row.Text(4),
                        .ver = row.UInt64(5)},
                       row.Int64(6)});
  });
  return repairs;
}

}  // namespace fanline::mysql
