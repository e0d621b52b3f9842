#include "backends/mysql/app_edges.h"

#include <algorithm>
#include <map>

#include "backends/mysql/sql_text.h"
#include "fanline/check.h"

namespace fanline::mysql {
namespace {

std::string Name(const std::string& identifier) { return '`' + identifier + '`'; }

std::string Columns(const EdgeTable& table) {
  return Name(table.src) + ", " + Name(table.dst) + ", " + Name(table.ver) + ", " +
         Name(table.state) + ", " + Name(table.pos);
}

std::string SelectSql(const EdgeTable& table, std::span<const EdgeKey> edges) {
  std::string sql = "SELECT " + Columns(table) + " FROM " + Name(table.table) + " WHERE ";
  for (size_t i = 0; i < edges.size(); ++i) {
    if (i > 0) sql += " OR ";
    sql += '(' + Name(table.src) + " = " + ToString(edges[i].src) + " AND " + Name(table.dst) +
           " = " + ToString(edges[i].dst) + ')';
  }
  return sql;
}

// Assignments are evaluated from left to right, so the version, which decides, changes last.
std::string UpsertSql(const EdgeTable& table, const Edge& edge) {
  const std::string ver = Name(table.ver), newer = "VALUES(" + ver + ") > " + ver;
  const auto take = [&](const std::string& column) {
    return Name(column) + " = IF(" + newer + ", VALUES(" + Name(column) + "), " + Name(column) +
           ")";
  };
  return "INSERT INTO " + Name(table.table) + " (" + Columns(table) + ") VALUES (" +
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

bool IsIdentifier(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

AppEdges::AppEdges(const AppTables& tables)
    : forward_(Checked(tables.forward)), reverse_(Checked(tables.reverse)) {}

void AppEdges::Read(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out) {
  struct Found {
    Status status;
    std::map<EdgeKey, EdgeState> rows;
  };
  const auto read = [&](Side& side, auto owner) {
    std::map<Shard, std::vector<EdgeKey>> by_shard;
    for (const EdgeKey& edge : edges) by_shard[side.map.ShardOf(owner(edge))].push_back(edge);
    std::map<Shard, Found> found;
    for (const auto& [shard, wanted] : by_shard) {
      std::vector<Edge> rows;
      found[shard].status = Read(side, shard, wanted, &rows);
      for (const Edge& row : rows) found[shard].rows[row.key()] = row.state();
    }
    return found;
  };
  auto reverse = read(reverse_, [](const EdgeKey& edge) { return edge.dst; });
  auto forward = read(forward_, [](const EdgeKey& edge) { return edge.src; });
  out->clear();
  for (const EdgeKey& edge : edges) {
    Found& of_reverse = reverse[reverse_.map.ShardOf(edge.dst)];
    Found& of_forward = forward[forward_.map.ShardOf(edge.src)];
    out->push_back({of_reverse.status.done() ? of_forward.status : of_reverse.status,
                    of_reverse.rows[edge], of_forward.rows[edge]});
  }
}

Status AppEdges::WriteForward(const Edge& edge, bool* written, Edge* now) {
  return Write(forward_, forward_.map.ShardOf(edge.src), edge, written, now);
}

Status AppEdges::WriteReverse(const Edge& edge, bool* written, Edge* now) {
  return Write(reverse_, reverse_.map.ShardOf(edge.dst), edge, written, now);
}

Status AppEdges::Read(Side& side, Shard shard, std::span<const EdgeKey> edges,
                      std::vector<Edge>* out) {
  return side.connections.Run(shard, [&](Connection& connection) {
    out->clear();
    connection.Query(SelectSql(side.table, edges), [&](const Row& row) {
      out->push_back(
          {UserId{row.UInt64(1)}, UserId{row.UInt64(2)}, row.UInt64(3), row.Bool(4), row.Int64(5)});
    });
  });
}

// One transaction, so that what is answered is what the statement left under its lock.
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
