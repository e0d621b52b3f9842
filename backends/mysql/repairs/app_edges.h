// The two tables of edges of an application that keeps them itself: their names, where they lie,
// and what a reconciler reads and writes there (docs/relations-contract.md). Each table has a
// unique key over (src, dst); ver is unsigned, state 1 or 0, pos in Unix milliseconds. Neither log1
// nor counters of Fanline's are touched.
// Blocking; one thread at a time.
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
  Config config;  // its shards: rows by src, or by dst, at ShardMap::Even
  std::string table;
  std::string src = "src", dst = "dst", ver = "ver", state = "state", pos = "pos";
};
struct AppTables {
  EdgeTable forward, reverse;
};

class AppEdges {
 public:
  // Ends the process when a name is no identifier.
  explicit AppEdges(const AppTables& tables);

  // Asks every shard for the columns, without any row. Never: a reachable shard has no such table
  // or column, or does not show it to this user; the message names the option to change, the shard
  // and the table. Later: nothing was found wrong, and a shard is away.
  [[nodiscard]] Status CheckTables();
  // In the order of ReadEdges: all reverse rows before the first forward row.
  void Read(std::span<const EdgeKey> edges, std::vector<RowsOfEdge>* out);
  // Makes the row say what `edge` says, unless it has that version or a newer one already.
  // *written: this call did; *now: the row.
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
