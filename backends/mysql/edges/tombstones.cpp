#include "backends/mysql/edges/tombstones.h"

#include <algorithm>
#include <string>

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

constexpr size_t kRowsPerDrop = 225;  // kListLimit for rows of four values

// Conditions of a forward row. The version is one of them so that versions still grow when the edge
// comes back: one that a clock far ahead gave out stays until that time has come.
std::string IsOldTombstone(UnixMs before) {
  return Sql("state = 0 AND friend_version = 0 AND friend_announced = 0 AND ver < ", before * 1000,
             " AND ut < FROM_UNIXTIME(", before, " / 1000)");
}

// The keys find the rows; the versions say which of them are meant.
std::string DropForwardSql(std::span<const Tombstone> tombstones, UnixMs before) {
  std::string sql = "DELETE f FROM following AS f FORCE INDEX (PRIMARY) WHERE (src, dst) IN ";
  AppendList(sql, tombstones, [](std::string& out, const Tombstone& each) {
    AppendTuple(out, Raw(each.edge.src), Raw(each.edge.dst));
  });
  sql += " AND (src, dst, ver) IN ";
  AppendList(sql, tombstones, [](std::string& out, const Tombstone& each) {
    AppendTuple(out, Raw(each.edge.src), Raw(each.edge.dst), each.ver);
  });
  // A server that took over meanwhile may lack the horizon that was raised.
  return Sql(sql, " AND ", IsOldTombstone(before),
             " AND (SELECT MAX(horizon) FROM tombstone_sweep) >= ", before);
}

std::string DropReverseSql(std::span<const Tombstone> tombstones) {
  std::string sql =
      "DELETE f FROM follower AS f FORCE INDEX (PRIMARY) WHERE (dst, bucket, src) IN ";
  AppendList(sql, tombstones, [](std::string& out, const Tombstone& each) {
    AppendTuple(out, Raw(each.edge.dst), BucketOf(each.edge.src), Raw(each.edge.src));
  });
  sql += " AND (dst, bucket, src, ver) IN ";
  AppendList(sql, tombstones, [](std::string& out, const Tombstone& each) {
    AppendTuple(out, Raw(each.edge.dst), BucketOf(each.edge.src), Raw(each.edge.src), each.ver);
  });
  return sql + " AND state = 0";
}

// Below the horizon nothing is safe, and above it nothing may go.
bool ReadSweep(Connection& connection, const ReadTombstones& request, EdgeKey* after) {
  bool due = false;
  connection.Query(Sql("SELECT after_src, after_dst, horizon >= ", request.before,
                       " AND (after_src > 0 OR began > ", kNowMs, " OR began + ",
                       std::chrono::milliseconds(request.every).count(), " <= ", kNowMs,
                       ") FROM tombstone_sweep"),
                   [&](const Row& row) {
                     *after = {UserId{row.UInt64(1)}, UserId{row.UInt64(2)}};
                     due = row.Bool(3);
                   });
  return due;
}

}  // namespace

UnixMs ReadHorizon(Connection& connection) {
  return static_cast<UnixMs>(connection.Number("SELECT horizon FROM tombstone_sweep"));
}

void RaiseHorizonTo(Connection& connection, UnixMs horizon) {
  connection.Execute(Sql("INSERT INTO tombstone_sweep (horizon) VALUES (", horizon,
                         ") ON DUPLICATE KEY UPDATE horizon = GREATEST(horizon, VALUES(horizon))"));
}

Status StatusOfAge(UnixMs since, UnixMs horizon) {
  if (since >= horizon) return Status::Done();
  return Status::Never(Sql("it is of ", since, " ms, and unfollows before ", horizon,
                           " ms may be forgotten: send it anew if it still holds"));
}

Status ReadHighestHorizon(ShardConnections& connections, Shard shards, UnixMs* out) {
  *out = 0;
  for (Shard shard = 0; shard < shards; ++shard) {
    UnixMs horizon = 0;
    Status status = connections.ReadTruth(
        shard, [&](Connection& connection) { horizon = ReadHorizon(connection); });
    if (!status.done()) return status;
    *out = std::max(*out, horizon);
  }
  return Status::Done();
}

TombstonesRead ReadBehindSweep(Connection& connection, const ReadTombstones& request) {
  TombstonesRead reply;
  reply.due = ReadSweep(connection, request, &reply.after);
  if (!reply.due) return reply;
  reply.last = reply.after;
  const auto read = [&](const std::string& where) {
    if (reply.rows >= request.limit) return;
    connection.Query(Sql("SELECT src, dst, ver, ", IsOldTombstone(request.before),
                         " FROM following FORCE INDEX (PRIMARY) WHERE ", where,
                         " ORDER BY src, dst LIMIT ", request.limit - reply.rows),
                     [&](const Row& row) {
                       ++reply.rows;
                       reply.last = {UserId{row.UInt64(1)}, UserId{row.UInt64(2)}};
                       if (row.Bool(4)) reply.tombstones.push_back({reply.last, row.UInt64(3)});
                     });
  };
  if (reply.after.src != UserId{}) {
    read(Sql("src = ", reply.after.src, " AND dst > ", reply.after.dst));
  }
  read(Sql("src > ", reply.after.src));
  reply.over = reply.rows < request.limit;
  return reply;
}

TombstonesDropped Drop(Connection& connection, const DropTombstones& request) {
  TombstonesDropped reply;
  std::vector<EdgeKey> edges;
  for (const Tombstone& tombstone : request.tombstones) edges.push_back(tombstone.edge);
  ForEachChunk(request.tombstones, kRowsPerDrop, [&](std::span<const Tombstone> chunk) {
    const std::string sql =
        request.reverse ? DropReverseSql(chunk) : DropForwardSql(chunk, request.before);
    uint64_t deleted = 0;
    connection.Transact([&] {
      deleted = connection.Execute(sql);
      return true;
    });
    reply.deleted += deleted;
  });
  const std::vector<EdgeState> rows =
      StatesOf(connection, edges, request.reverse ? ReverseRowsSql : ForwardRowsSql);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].ver == 0) reply.gone.push_back(request.tombstones[i]);
  }
  return reply;
}

void MoveSweep(Connection& connection, const MoveTombstoneSweep& request) {
  const auto& [id, shard, from, to] = request;
  const bool begins = from == EdgeKey{};
  connection.Execute(Sql("UPDATE tombstone_sweep SET began = ", begins ? kNowMs : "began",
                         ", after_src = ", to.src, ", after_dst = ", to.dst,
                         " WHERE after_src = ", from.src, " AND after_dst = ", from.dst));
}

ScanPassed TombstoneService::Do(Connection& connection, const ReadScanPassed& request) {
  ScanPassed reply;
  reply.passed = static_cast<UnixMs>(connection.Number(
      Sql("SELECT COALESCE(MIN(proved), 0) FROM full_scan WHERE edges IN ('following', 'follower')"
          " AND shard = ",
          request.shard, " HAVING COUNT(*) = 2")));
  return reply;
}

HorizonRaised TombstoneService::Do(Connection& connection, const RaiseHorizon& request) {
  RaiseHorizonTo(connection, request.horizon);
  return {};
}

TombstonesRead TombstoneService::Do(Connection& connection, const ReadTombstones& request) {
  return ReadBehindSweep(connection, request);
}

// A server that was demoted meanwhile cannot say that a row is gone.
TombstonesDropped TombstoneService::Do(Connection& connection, const DropTombstones& request) {
  TombstonesDropped reply = Drop(connection, request);
  connection.RequirePrimary();
  return reply;
}

TombstoneSweepMoved TombstoneService::Do(Connection& connection,
                                         const MoveTombstoneSweep& request) {
  MoveSweep(connection, request);
  return {};
}

}  // namespace fanline::mysql
