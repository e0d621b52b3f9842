#include "backends/mysql/repair_log.h"

#include "backends/mysql/sql_text.h"

namespace fanline::mysql {

std::string RepairSql(const Repair& repair) {
  return "INSERT INTO repair_log (net, cause, src, dst, before_value, after_value, ver) VALUES (" +
         Quoted(repair.net) + "," + Quoted(repair.cause) + "," + ToString(repair.src) + "," +
         ToString(repair.dst) + "," + Quoted(repair.before) + "," + Quoted(repair.after) + "," +
         std::to_string(repair.ver) + ")";
}

}  // namespace fanline::mysql
