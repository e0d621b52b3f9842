// fanline-bench-scan: the other side of the reconciler's scans, by a client that knows every
// statement before the clock runs.
//
//   lookups   of the full scan: each row of both tables is looked up by its key in the other table,
//             in the order of the scan's pages and as many keys a statement
//   logged    of the log scan: pages of log1, and both rows of each of their edges
//   nibbles   pt-table-checksum's statement for a chunk of rows, over `following` and over
//             `bare_following`, which must be a copy of it on the same server
//
// The statements are issued one after the other, and once more by a connection to each server at
// the same time. Prints {"statements": n, "rows": n, "seconds": s, "at_once": s, "statement": the
// first one}.
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/options/mysql_settings.h"
#include "bench/round.h"
#include "bench/threads.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "fanline/ports/full_scan.h"
#include "reconciler/edge_comparer.h"
#include "reconciler/full_scanner.h"
#include "reconciler/log_scanner.h"

using namespace fanline;
using mysql::Sql;

namespace {

const size_t kPage = reconciler::FullScanLimits{}.rows;
const size_t kLoggedPage = reconciler::LogScanLimits{}.rows;
const size_t kEdgesOfARead = reconciler::EdgeComparer::Limits{}.edges_per_read;
// pt-table-checksum makes chunks of half a second.
constexpr size_t kNibble = 200'000;

// Of each server, in the order in which they are issued.
using Statements = std::vector<std::vector<std::string>>;

class Servers {
 public:
  explicit Servers(const mysql::Config& config) : config_(config), connections_(config) {
    bench::Must(mysql::ReadInstallation(config, &installation_));
  }

  const ShardMap& map() const { return installation_.shard_map; }

  void Query(Shard shard, const std::string& sql,
             const std::function<void(const mysql::Row&)>& each) {
    Query(connections_, shard, sql, each);
  }

  // How many rows the statements answer, and seconds.
  std::pair<uint64_t, double> Issue(const Statements& statements) {
    uint64_t rows = 0;
    const double seconds = bench::SecondsOf(1, [&](uint32_t) {
      for (Shard shard = 0; shard < statements.size(); ++shard)
        Query(shard, "SELECT 1", [](auto&) {});
      return [&] {
        for (Shard shard = 0; shard < statements.size(); ++shard) {
          for (const std::string& sql : statements[shard])
            Query(shard, sql, [&](auto&) { ++rows; });
        }
      };
    });
    return {rows, seconds};
  }

  double IssueAtOnce(const Statements& statements) const {
    return bench::SecondsOf(static_cast<uint32_t>(statements.size()), [&](uint32_t shard) {
      auto own = std::make_shared<mysql::ShardConnections>(config_);
      Query(*own, static_cast<Shard>(shard), "SELECT 1", [](auto&) {});
      return [&statements, own, shard] {
        for (const std::string& sql : statements[shard]) {
          Query(*own, static_cast<Shard>(shard), sql, [](auto&) {});
        }
      };
    });
  }

 private:
  static void Query(mysql::ShardConnections& connections, Shard shard, const std::string& sql,
                    const std::function<void(const mysql::Row&)>& each) {
    bench::Must(connections.Run(
        shard, [&](mysql::Connection& connection) { connection.Query(sql, each); }));
  }

  const mysql::Config config_;
  mysql::ShardConnections connections_;
  mysql::Installation installation_;
};

// ---- the full scan's ------------------------------------------------------------------------

// A table of edges as the scan walks it: its name, the columns before its last key column, that
// column.
struct Walked {
  const char* table;
  const char* order;
  bool reverse;
};
constexpr std::array kWalked = {Walked{"following", "src, dst", false},
                                Walked{"follower", "dst, bucket, src", true}};

std::vector<EdgeKey> KeysOf(Servers& servers, Shard shard, const Walked& walked) {
  std::vector<EdgeKey> keys;
  servers.Query(
      shard,
      Sql("SELECT src, dst FROM ", walked.table, " FORCE INDEX (PRIMARY) ORDER BY ", walked.order),
      [&](const mysql::Row& row) {
        keys.push_back({UserId{row.UInt64(1)}, UserId{row.UInt64(2)}});
      });
  return keys;
}

void AddLookups(const ShardMap& map, const Walked& walked, std::span<const EdgeKey> page,
                Statements& to) {
  std::map<Shard, std::vector<EdgeKey>> by_server;
  for (const EdgeKey& edge : page) {
    by_server[map.ShardOf(walked.reverse ? edge.src : edge.dst)].push_back(edge);
  }
  for (const auto& [server, edges] : by_server) {
    mysql::ForEachChunk(edges, kDigestEdges,
                        [&, &list = to[server]](std::span<const EdgeKey> chunk) {
                          list.push_back(walked.reverse ? mysql::ForwardRowsSql(chunk)
                                                        : mysql::ReverseRowsSql(chunk));
                        });
  }
}

Statements Lookups(Servers& servers, uint64_t* rows) {
  const ShardMap& map = servers.map();
  Statements statements(map.shards());
  for (const Walked& walked : kWalked) {
    for (Shard shard = 0; shard < map.shards(); ++shard) {
      const std::vector<EdgeKey> keys = KeysOf(servers, shard, walked);
      *rows += keys.size();
      mysql::ForEachChunk(keys, kPage, [&](std::span<const EdgeKey> page) {
        AddLookups(map, walked, page, statements);
      });
    }
  }
  return statements;
}

// ---- the log scan's -------------------------------------------------------------------------

struct Logged {
  uint64_t id = 0;
  EdgeKey edge;
};

void AddLogged(const ShardMap& map, Shard shard, std::span<const Logged> page, Statements& to) {
  std::map<Shard, std::vector<EdgeKey>> by_reverse;
  for (const Logged& row : page) by_reverse[map.ShardOf(row.edge.dst)].push_back(row.edge);
  for (const auto& [reverse, edges] : by_reverse) {
    mysql::ForEachChunk(edges, kEdgesOfARead, [&, at = reverse](std::span<const EdgeKey> chunk) {
      to[at].push_back(mysql::ReverseRowsSql(chunk));
      to[shard].push_back(mysql::ForwardRowsSql(chunk));
    });
  }
}

// Each row of log1 is of another edge.
Statements LoggedRows(Servers& servers, uint64_t* rows) {
  const ShardMap& map = servers.map();
  Statements statements(map.shards());
  for (Shard shard = 0; shard < map.shards(); ++shard) {
    std::vector<Logged> logged;
    servers.Query(shard, "SELECT id, src, dst FROM log1 ORDER BY id", [&](const mysql::Row& row) {
      logged.push_back({row.UInt64(1), {UserId{row.UInt64(2)}, UserId{row.UInt64(3)}}});
    });
    *rows += 3 * logged.size();
    uint64_t behind = 0;
    mysql::ForEachChunk(logged, kLoggedPage, [&](std::span<const Logged> page) {
      statements[shard].push_back(
          Sql("SELECT id, kind, src, dst, ver, state, pos, delivery,"
              " FLOOR(UNIX_TIMESTAMP(ts) * 1000), done FROM log1 FORCE INDEX (PRIMARY) WHERE id > ",
              behind, " ORDER BY id LIMIT ", kLoggedPage));
      behind = page.back().id;
      AddLogged(map, shard, page, statements);
    });
  }
  return statements;
}

// ---- pt-table-checksum's ----------------------------------------------------------------------

std::string NibbleSql(const char* table, const EdgeKey& first, const EdgeKey& last) {
  return Sql(
      "SELECT COUNT(*) AS cnt, COALESCE(LOWER(CONV(BIT_XOR(CAST(CRC32(CONCAT_WS('#', `src`, `dst`,"
      " `ver`, `state`, `pos`, `delivery`)) AS UNSIGNED)), 10, 16)), 0) AS crc FROM `",
      table, "` FORCE INDEX(`PRIMARY`) WHERE ((`src` > '", first.src, "') OR (`src` = '", first.src,
      "' AND `dst` >= '", first.dst, "')) AND ((`src` < '", last.src, "') OR (`src` = '", last.src,
      "' AND `dst` <= '", last.dst, "')) /*checksum chunk*/");
}

Statements Nibbles(Servers& servers, uint64_t* rows) {
  Statements statements(servers.map().shards());
  for (Shard shard = 0; shard < statements.size(); ++shard) {
    const std::vector<EdgeKey> keys = KeysOf(servers, shard, kWalked[0]);
    mysql::ForEachChunk(keys, kNibble, [&](std::span<const EdgeKey> chunk) {
      std::vector<std::string> found;
      for (const char* table : {"following", "bare_following"}) {
        const std::string& sql =
            statements[shard].emplace_back(NibbleSql(table, chunk.front(), chunk.back()));
        servers.Query(shard, sql, [&](const mysql::Row& row) {
          bench::Must(row.UInt64(1) == chunk.size(), "a chunk is not as long as it was read");
          found.push_back(row.Text(2));
        });
      }
      bench::Must(found.front() == found.back(), "bare_following is no copy");
      *rows += 2;
    });
  }
  return statements;
}

int Main(int argc, char** argv) {
  options::MysqlSettings settings;
  daemon::OptionTable table("fanline-bench-scan", "the statements that scans of relations need");
  options::AddOptions(table, settings);
  table.AddCommand("lookups", "key look-ups of a full scan");
  table.AddCommand("logged", "pages of log1 and the rows of their edges");
  table.AddCommand("nibbles", "chunks of pt-table-checksum");
  const std::string command = table.ParseOrExit(argc, argv).command;

  Servers servers(options::ToConfig(settings));
  uint64_t due = 0;
  const Statements statements = command == "lookups"  ? Lookups(servers, &due)
                                : command == "logged" ? LoggedRows(servers, &due)
                                                      : Nibbles(servers, &due);
  const auto [rows, seconds] = servers.Issue(statements);
  bench::Must(rows == due, Sql("found ", rows, " of ", due, " rows"));
  const double at_once = servers.IssueAtOnce(statements);
  size_t count = 0;
  for (const auto& each : statements) count += each.size();
  std::printf(
      "{\"statements\": %zu, \"rows\": %llu, \"seconds\": %.6f, \"at_once\": %.6f,"
      " \"statement\": \"%s\"}\n",
      count, static_cast<unsigned long long>(rows), seconds, at_once,
      count > 0 && command == "nibbles" ? statements[0].front().c_str() : "");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-scan", [&] { return Main(argc, argv); });
}
