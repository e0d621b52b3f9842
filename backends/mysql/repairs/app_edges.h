// The two tables of edges of an application that keeps them itself: their names, their shards, and
// a reconciler's reads and writes there (docs/relations-contract.md). Each table has a unique key
// over (src, dst); ver is unsigned, state 1 or 0, pos in Unix milliseconds. Fanline's log1 and
// counters are not touched. Blocking; one thread at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/ports/repair_store.h"

namespace fanline::mysql {

struct EdgeTable {
  Config config;  // its shards: ShardMap::Even divides the rows, by src or by dst
  std::string table;
  std::string src = "src", dst = "dst", ver = "ver", state = "state", pos = "pos";
};
struct AppTables {
  EdgeTable forward, reverse;
};

class AppEdges {
 public:
  // Ends the process if a name is not an identifier.
  explicit AppEdges(const AppTables& tables);

  // Asks every shard for the columns, without reading a row. Never: a shard that answers has no
  // such table or column, or does not show it to this user. The message names the option to change,
  // the shard and the table. Later: a shard is away, and nothing was found wrong.
  [[nodiscard]] Status CheckTables();
  // The two halves of ReadEdges, in this order: the second completes what the first began.
  void ReadReverse(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out);
  void ReadForward(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out);
  // Makes the row equal to `edge`, unless it already has that version or a newer one. *written:
  // this call wrote it; *now: the row.
  Status WriteForward(const Edge& edge, bool* written, Edge* now);
  Status WriteReverse(const Edge& edge, bool* written, Edge* now);

 private:
  struct Side {
    explicit Side(const EdgeTable& table_in)
        : table(table_in),
          map(ShardMap::Even(static_cast<uint32_t>(table_in.config.shards.size()))),
          connections(table_in.config) {}
    const EdgeTable table;
    const ShardMap map;
    ShardConnections connections;
  };

  static Status CheckTable(Side& side, const std::string& name, Shard shard);
  static Status Read(Side& side, Shard shard, std::span<const EdgeKey> edges,
                     std::vector<Edge>* out);
  static Status Write(Side& side, Shard shard, const Edge& edge, bool* written, Edge* now);

  Side forward_, reverse_;
};

}  // namespace fanline::mysql
