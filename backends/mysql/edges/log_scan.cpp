#include "backends/mysql/edges/log_scan.h"

#include <map>
#include <span>
#include <string>

#include "backends/mysql/edges/change_log.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

std::string PlaceSql() {
  return Sql("SELECT COALESCE(MAX(after_id), 0), COALESCE(MAX(up_to), 0), ", kNowMs,
             " FROM log_scan");
}

}  // namespace

// Stops at the first row that is too young: those behind it are younger still, but for what another
// transaction has taken its time to commit.
LoggedRead ReadBehindPlace(Connection& connection, const ReadLogged& request) {
  LoggedRead reply;
  UnixMs oldest = 0;  // of what is too young
  connection.Query(PlaceSql(), [&](const Row& row) {
    reply.place = reply.last = row.UInt64(1);
    reply.passed = row.Int64(2);
    oldest = reply.up_to = row.Int64(3) - request.age.count();
  });
  uint32_t rows = 0;
  bool young = false;
  for (const LoggedRow& row : ChangesBehind(connection, reply.place, request.limit)) {
    young = young || row.change.written_at > oldest;
    if (young) break;
    ++rows;
    reply.last = row.change.id;
    if (row.done) reply.changes.push_back(row.change);
    if (rows == request.limit) reply.up_to = row.change.written_at;
  }
  reply.more = rows == request.limit;
  return reply;
}

// If another scanner has moved the place on meanwhile, that one stays.
void MovePlace(Connection& connection, const MoveLogScan& request) {
  connection.Execute(
      Sql("INSERT INTO log_scan (after_id, up_to) VALUES (", request.to, ",", request.up_to,
          ") ON DUPLICATE KEY UPDATE up_to = IF(after_id = ", request.from, ", ", request.up_to,
          ", up_to), after_id = IF(after_id = ", request.from, ", ", request.to, ", after_id)"));
}

std::vector<uint64_t> FriendVersions(Connection& connection, const std::vector<EdgeKey>& edges) {
  std::vector<EdgeKey> wanted = edges;
  SortUnique(wanted);
  std::map<EdgeKey, uint64_t> found;
  QueryChunks(
      connection, wanted, kListLimit,
      [](std::span<const EdgeKey> chunk) {
        std::string sql =
            "SELECT src, dst, friend_version FROM following FORCE INDEX (PRIMARY)"
            " WHERE (src, dst) IN ";
        AppendList(sql, chunk, [](std::string& out, const EdgeKey& edge) {
          AppendTuple(out, Raw(edge.src), Raw(edge.dst));
        });
        return sql;
      },
      [&](const Row& row) {
        found[{UserId{row.UInt64(1)}, UserId{row.UInt64(2)}}] = row.UInt64(3);
      });
  std::vector<uint64_t> versions;
  for (const EdgeKey& edge : edges) versions.push_back(found[edge]);
  return versions;
}

void WriteAgain(Connection& connection, const LoggedChange& change) {
  const Edge& edge = change.edge;
  connection.Execute(Sql("INSERT INTO log1 (kind, src, dst, ver, state, pos, delivery) VALUES (",
                         change.kind, ",", edge.src, ",", edge.dst, ",", edge.ver, ",", edge.live,
                         ",", edge.pos, ",", static_cast<int>(edge.delivery), ")"));
}

LogScanPlace ReadLogScanPlace(Connection& connection) {
  LogScanPlace place;
  connection.Query(PlaceSql(), [&](const Row& row) { place = {row.Int64(2), row.Int64(3)}; });
  return place;
}

}  // namespace fanline::mysql
