#include "backends/mysql/repairs/app_edges.h"

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

// `delivery`: what stands for it without a column; empty: nothing.
std::string Columns(const EdgeTable& table, const std::string& delivery) {
  const std::string last = table.delivery.empty() ? delivery : ", " + QuotedName(table.delivery);
  return QuotedName(table.src) + ", " + QuotedName(table.dst) + ", " + QuotedName(table.ver) +
         ", " + QuotedName(table.state) + ", " + QuotedName(table.pos) + last;
}

// Assignments take effect from left to right. The version decides the others, so it changes last.
std::string UpsertSql(const EdgeTable& table, const Edge& edge) {
  const std::string ver = QuotedName(table.ver), newer = "VALUES(" + ver + ") > " + ver;
  const auto take = [&](const std::string& column) {
    return QuotedName(column) + " = IF(" + newer + ", VALUES(" + QuotedName(column) + "), " +
           QuotedName(column) + ")";
  };
  std::string delivery, take_delivery;
  if (!table.delivery.empty()) {
    delivery = Sql(", ", static_cast<int>(edge.delivery));
    take_delivery = take(table.delivery) + ", ";
  }
  return Sql("INSERT INTO ", QuotedName(table.table), " (", Columns(table, ""), ") VALUES (",
             edge.src, ", ", edge.dst, ", ", edge.ver, ", ", edge.live, ", ", edge.pos, delivery,
             ") ON DUPLICATE KEY UPDATE ", take(table.state), ", ", take(table.pos), ", ",
             take_delivery, ver, " = GREATEST(", ver, ", VALUES(", ver, "))");
}

Status CheckTable(const EdgeTable& table, const std::string& name, Shard shard,
                  ShardConnections& connections) {
  const std::string sql =
      "SELECT " + Columns(table, "") + " FROM " + QuotedName(table.table) + " LIMIT 0";
  const std::string where = name + " shard " + std::to_string(shard);
  std::string wrong;
  Status status = connections.Run(shard, [&](Connection& connection) {
    try {
      connection.Query(sql, [](const Row&) {});
    } catch (const MysqlError& error) {
      const std::string option = OptionBehind(error, "--" + name + "-table", "--edge-columns");
      if (option.empty()) throw;
      const ShardAddress& at = table.config.shards[shard];
      wrong = option + ": " + where + " (" + at.host + ":" + std::to_string(at.port) + "), table " +
              at.database + "." + table.table + ": SQL error " + std::to_string(error.code()) +
              ": " + error.what();
    }
  });
  if (!wrong.empty()) return Status::Never(wrong);
  if (!status.done()) {
    status.message = where + ": " + status.message;
    status.advice = "";  // it names options of Fanline's own shards
  }
  return status;
}

}  // namespace

ShardMap ShardsOf(const EdgeTable& table) {
  return ShardMap::Even(static_cast<uint32_t>(table.config.shards.size()));
}

Status CheckAppTables(const AppTables& tables) {
  Status away;
  for (const auto& [table, name] :
       {std::pair(&tables.forward, "forward"), std::pair(&tables.reverse, "reverse")}) {
    ShardConnections connections(table->config);
    for (Shard shard = 0; shard < table->config.shards.size(); ++shard) {
      Status status = CheckTable(*table, name, shard, connections);
      if (status.never()) return status;
      if (!status.done() && away.done()) away = std::move(status);
    }
  }
  return away;
}

std::string SelectSql(const EdgeTable& table, std::span<const EdgeKey> edges) {
  std::string sql = Sql("SELECT ", Columns(table, ", 0"), " FROM ", QuotedName(table.table));
  const char* before = " WHERE (";
  for (const EdgeKey& edge : edges) {
    AppendSql(sql, std::exchange(before, " OR ("), QuotedName(table.src), " = ", edge.src, " AND ",
              QuotedName(table.dst), " = ", edge.dst, ")");
  }
  return sql;
}

// One transaction, so that the row is returned as this statement left it under its lock.
EdgeAdopted WriteRow(Connection& connection, const EdgeTable& table, const Edge& edge) {
  EdgeAdopted written;
  connection.Transact([&] {
    written.adopted = connection.Execute(UpsertSql(table, edge)) > 0;
    const EdgeKey key = edge.key();
    connection.Query(SelectSql(table, {&key, 1}),
                     [&](const Row& row) { written.edge = EdgeFrom(row, 1); });
    return true;
  });
  return written;
}

}  // namespace fanline::mysql
