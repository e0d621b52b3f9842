#include "backends/mysql/repairs/repair_store.h"

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/reverse_edges.h"
#include "backends/mysql/edges/tombstones.h"
#include "backends/mysql/repairs/repair_log.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"
#include "fanline/consuming/answered.h"

namespace fanline::mysql {

RowsRead RepairService::Do(Connection& connection, const ReadRows& request) const {
  const auto sql = [&](std::span<const EdgeKey> edges) {
    if (table) return SelectSql(*table, edges);
    return request.reverse ? ReverseRowsSql(edges) : ForwardRowsSql(edges);
  };
  for (const EdgeKey& edge : request.edges) {
    const Shard shard = map.ShardOf(request.reverse ? edge.dst : edge.src);
    FANLINE_CHECK(shard == ShardOf(request), "edges of the shard that is asked");
  }
  RowsRead reply{.status = {}, .rows = StatesOf(connection, request.edges, sql)};
  if (!table && !request.reverse) reply.horizon = ReadHorizon(connection);
  connection.RequirePrimary();
  return reply;
}

EdgesApplied RepairService::Do(Connection& connection, const ApplyEdges& request) const {
  EdgesApplied reply;
  if (table) {
    for (const Edge& edge : request.edges) {
      const EdgeAdopted written = WriteRow(connection, *table, edge);
      reply.applied.push_back({written.edge.ver, written.adopted});
    }
    return reply;
  }
  for (const Edge& edge : request.edges) {
    FANLINE_CHECK(map.ShardOf(edge.dst) == request.shard, "edges of the shard that is asked");
  }
  ReverseResult result = ApplyReverse(connection, request.edges);
  reply.applied = std::move(result.applied);
  reply.below_zero = result.below_zero.size();
  return reply;
}

EdgeAdopted RepairService::Do(Connection& connection, const AdoptEdge& request) const {
  if (table) return WriteRow(connection, *table, request.edge);
  const ForwardChanged forward = AdoptForward(connection, request.edge);
  return {.status = {}, .adopted = forward.changed, .edge = forward.edge};
}

RepairLogged RepairService::Do(Connection& connection, const LogRepair& request) const {
  connection.Execute(RepairSql(request));
  return {};
}

RemovalsTaken RepairService::Do(Connection& connection, const TakeRemovals& request) const {
  const std::string name = Quoted(reverse_rows);
  const std::string key = Sql(" WHERE edges = ", name, " AND shard = ", request.shard);
  RemovalsTaken reply;
  connection.Transact([&] {
    // Creates the row or locks it in one statement. With a shared lock first, two callers that
    // upgrade it would deadlock.
    connection.Execute(Sql("INSERT INTO removal_allowance (edges, shard) VALUES (", name, ", ",
                           request.shard, ") ON DUPLICATE KEY UPDATE taken = taken"));
    RemovalAllowance kept;
    UnixMs now = 0;
    connection.Query(
        Sql("SELECT began, taken, opened, ", kNowMs, " FROM removal_allowance", key, " FOR UPDATE"),
        [&](const Row& row) {
          kept = {row.Int64(1), row.UInt64(2), row.UInt64(3)};
          now = row.Int64(4);
        });
    reply.granted = Take(kept, request, now);
    connection.Execute(Sql("UPDATE removal_allowance SET began = ", kept.began,
                           ", taken = ", kept.taken, ", opened = ", kept.opened, key));
    return true;
  });
  return reply;
}

MysqlRepairStore::MysqlRepairStore(const Config& config, const ShardMap& map, const LogSink& log,
                                   size_t threads, const std::optional<AppTables>& app,
                                   const AppHealth& app_health)
    : own_(config, {}, log,
           app ? RepairService{map, {}, "app." + app->reverse.table} : RepairService{map},
           {.threads_per_shard = threads}) {
  if (!app) return;
  const auto of = [&](const EdgeTable& table, const HealthSink& health) {
    return std::make_unique<Rows>(table.config, health, log, RepairService{ShardsOf(table), table},
                                  PoolLimits{.threads_per_shard = threads, .probes = true});
  };
  app_forward_ = of(app->forward, app_health.forward);
  app_reverse_ = of(app->reverse, app_health.reverse);
}

void MysqlRepairStore::ReadNext(Reading reading) {
  Rows& rows = reading.reverse.empty() ? reverse() : forward();
  ReadRows half{0, reading.reverse.empty(), reading.request.edges};
  {
    const std::lock_guard lock(mutex_);
    half.id = ++last_id_;
    readings_.emplace(half.id, std::move(reading));
  }
  rows.Submit(std::move(half), *this);
}

void MysqlRepairStore::Push(RowsRead read) {
  std::unique_lock lock(mutex_);
  Reading reading = TakeAnswered(readings_, read.id);
  lock.unlock();
  if (read.status.done() && reading.reverse.empty()) {
    reading.reverse = std::move(read.rows);
    return ReadNext(std::move(reading));
  }
  EdgesRead reply{reading.request.id, std::move(read.status), {}, read.horizon};
  for (size_t i = 0; i < read.rows.size(); ++i) {
    reply.rows.push_back({reading.reverse[i], read.rows[i]});
  }
  reading.to(std::move(reply));
}

}  // namespace fanline::mysql
