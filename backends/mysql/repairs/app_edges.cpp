#include "backends/mysql/repairs/app_edges.h"

#include "backends/mysql/repairs/edge_repair.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"

namespace fanline::mysql {
namespace {

std::string Columns(const EdgeTable& table) {
  return QuotedName(table.src) + ", " + QuotedName(table.dst) + ", " + QuotedName(table.ver) +
         ", " + QuotedName(table.state) + ", " + QuotedName(table.pos);
}

// The option to change when the server refuses the statement with `code`; empty: none of them.
std::string OptionBehind(int code, const std::string& side) {
  switch (code) {
    case 1142:  // may not be read
    case 1146:  // no such table
      return "--" + side + "-table";
    case 1054:  // no such column
    case 1143:  // may not be read
      return "--edge-columns";
    default:
      return {};
  }
}

std::string SelectSql(const EdgeTable& table, std::span<const EdgeKey> edges) {
  std::string sql = "SELECT " + Columns(table) + " FROM " + QuotedName(table.table) + " WHERE ";
  for (size_t i = 0; i < edges.size(); ++i) {
    if (i > 0) sql += " OR ";
    sql += '(' + QuotedName(table.src) + " = " + ToString(edges[i].src) + " AND " +
           QuotedName(table.dst) + " = " + ToString(edges[i].dst) + ')';
  }
  return sql;
}

// Assignments take effect from left to right. The version decides the others, so it changes last.
std::string UpsertSql(const EdgeTable& table, const Edge& edge) {
  const std::string ver = QuotedName(table.ver), newer = "VALUES(" + ver + ") > " + ver;
  const auto take = [&](const std::string& column) {
    return QuotedName(column) + " = IF(" + newer + ", VALUES(" + QuotedName(column) + "), " +
           QuotedName(column) + ")";
  };
  return "INSERT INTO " + QuotedName(table.table) + " (" + Columns(table) + ") VALUES (" +
         ToString(edge.src) + ", " + ToString(edge.dst) + ", " + std::to_string(edge.ver) + ", " +
         (edge.live ? "1" : "0") + ", " + std::to_string(edge.pos) + ") ON DUPLICATE KEY UPDATE " +
         take(table.state) + ", " + take(table.pos) + ", " + ver + " = GREATEST(" + ver +
         ", VALUES(" + ver + "))";
}

const EdgeTable& Checked(const EdgeTable& table) {
  for (const auto* name :
       {&table.table, &table.src, &table.dst, &table.ver, &table.state, &table.pos}) {
    FANLINE_CHECK(IsIdentifier(*name), "the name of a table or column");
  }
  return table;
}

}  // namespace

AppEdges::AppEdges(const AppTables& tables)
    : forward_(Checked(tables.forward)), reverse_(Checked(tables.reverse)) {}

Status AppEdges::CheckTables() {
  Status away;
  const auto check = [&](Side& side, const std::string& name) {
    for (Shard shard = 0; shard < side.map.shards(); ++shard) {
      Status status = CheckTable(side, name, shard);
      if (status.never()) return status;
      if (!status.done() && away.done()) away = std::move(status);
    }
    return Status::Done();
  };
  if (Status wrong = check(forward_, "forward"); !wrong.done()) return wrong;
  if (Status wrong = check(reverse_, "reverse"); !wrong.done()) return wrong;
  return away;
}

void AppEdges::ReadReverse(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out) {
  out->assign(edges.size(), {});
  const auto read = [this](Shard shard, const auto& wanted, auto* rows) {
    return Read(reverse_, shard, wanted, rows);
  };
  ReadRows(edges, &EdgeKey::dst, reverse_.map, read, &RowsOfEdge::reverse, out);
}

void AppEdges::ReadForward(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out) {
  const auto read = [this](Shard shard, const auto& wanted, auto* rows) {
    return Read(forward_, shard, wanted, rows);
  };
  ReadRows(edges, &EdgeKey::src, forward_.map, read, &RowsOfEdge::forward, out);
}

Status AppEdges::WriteForward(const Edge& edge, bool* written, Edge* now) {
  return Write(forward_, forward_.map.ShardOf(edge.src), edge, written, now);
}

Status AppEdges::WriteReverse(const Edge& edge, bool* written, Edge* now) {
  return Write(reverse_, reverse_.map.ShardOf(edge.dst), edge, written, now);
}

Status AppEdges::CheckTable(Side& side, const std::string& name, Shard shard) {
  const std::string sql =
      "SELECT " + Columns(side.table) + " FROM " + QuotedName(side.table.table) + " LIMIT 0";
  const std::string where = name + " shard " + std::to_string(shard);
  std::string wrong;
  Status status = side.connections.Run(shard, [&](Connection& connection) {
    try {
      connection.Query(sql, [](const Row&) {});
    } catch (const MysqlError& error) {
      const std::string option = OptionBehind(error.code(), name);
      if (option.empty()) throw;
      const ShardAddress& at = side.table.config.shards[shard];
      wrong = option + ": " + where + " (" + at.host + ":" + std::to_string(at.port) + "), table " +
              at.database + "." + side.table.table + ": MariaDB error " +
              std::to_string(error.code()) + ": " + error.what();
    }
  });
  if (!wrong.empty()) return Status::Never(wrong);
  if (!status.done()) status.message = where + ": " + status.message;
  return status;
}

Status AppEdges::Read(Side& side, Shard shard, std::span<const EdgeKey> edges,
                      std::vector<Edge>* out) {
  return side.connections.ReadTruth(shard, [&](Connection& connection) {
    out->clear();
    connection.Query(SelectSql(side.table, edges), [&](const Row& row) {
      out->push_back(
          {UserId{row.UInt64(1)}, UserId{row.UInt64(2)}, row.UInt64(3), row.Bool(4), row.Int64(5)});
    });
  });
}

// One transaction, so that *now is the row as this statement left it under its lock.
Status AppEdges::Write(Side& side, Shard shard, const Edge& edge, bool* written, Edge* now) {
  return side.connections.Run(shard, [&](Connection& connection) {
    connection.Transact([&] {
      *written = connection.Execute(UpsertSql(side.table, edge)) > 0;
      const EdgeKey key = edge.key();
      connection.Query(SelectSql(side.table, {&key, 1}), [&](const Row& row) {
        *now = {edge.src, edge.dst, row.UInt64(3), row.Bool(4), row.Int64(5)};
      });
      return true;
    });
  });
}

}  // namespace fanline::mysql
