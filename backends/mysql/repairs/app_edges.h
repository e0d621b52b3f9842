// The two tables of edges of an application that keeps them itself: their names, their shards, and
// a reconciler's reads and writes there (docs/relations-contract.md). Each table has a unique key
// over (src, dst); ver is unsigned, state 1 or 0, pos in Unix milliseconds. Without a column of the
// delivery every follow brings all. Fanline's log1 and counters are not touched.
#pragma once

#include <span>
#include <string>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/ports/repair_store.h"

namespace fanline::mysql {

struct EdgeTable {
  Config config;
  std::string table;
  std::string src = "src", dst = "dst", ver = "ver", state = "state", pos = "pos";
  std::string delivery = {};  // empty: there is none
};
struct AppTables {
  EdgeTable forward, reverse;
};

// Where its rows are, by src or by dst.
ShardMap ShardsOf(const EdgeTable& table);

// Asks every shard for the columns, without reading a row. Never: a shard that answers has no such
// table or column, or does not show it to this user. The message names the option to change, the
// shard and the table. Later: a shard is away, and nothing was found wrong. Blocking.
[[nodiscard]] Status CheckAppTables(const AppTables& tables);

// Each ends the process if a name is not an identifier.
// src, dst, ver, state, pos, delivery of those of `edges` that have a row
std::string SelectSql(const EdgeTable& table, std::span<const EdgeKey> edges);
// Makes the row equal to `edge`, unless it already has that version or a newer one. Throws
// MysqlError.
[[nodiscard]] EdgeAdopted WriteRow(Connection& connection, const EdgeTable& table,
                                   const Edge& edge);

}  // namespace fanline::mysql
