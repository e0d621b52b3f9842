// fanline-bench-apply: reverse rows of distinct edges, in batches, on one thread.
//
//   apply    the store's transaction per batch and shard: locks, compares and writes rows, keeps
//            counters, tells what became of each edge
//   upsert   the other side: one multi-row guarded upsert of the same rows, into a table like
//            `follower`
//
// Both sides get the same batches, cut by shard and in the order of the table's key; the tables
// must not hold the edges yet. Prints {"rows": n, "seconds": s, "statement": of upsert, for one
// row, "durability": of the server}.
#include <algorithm>
#include <cstdio>
#include <tuple>
#include <vector>

#include "backends/mysql/edges/reverse_edges.h"
#include "backends/mysql/installation/installation.h"
#include "backends/options/mysql_settings.h"
#include "bench/bare_rows.h"
#include "bench/made_edges.h"
#include "bench/round.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"

using namespace fanline;

namespace {

struct Config {
  options::MysqlSettings mysql;
  uint64_t first = 0;
  uint64_t rows = 0;
  uint64_t batch = 500;
  bool any_length = false;
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.mysql);
  table.Add("first", &config.first, "number of the first edge");
  table.Add("rows", &config.rows, "how many").AtLeast(1).Required();
  table.Add("batch", &config.batch, "rows of a transaction").Range(1, 10'000);
  table.Add("any-length", &config.any_length, "users have ids of 11 to 20 digits, mixed");
  table.AddCommand("apply", "the store's transaction");
  table.AddCommand("upsert", "one statement per batch");
}

struct Batch {
  Shard shard = 0;
  std::vector<Edge> edges;
};

Edge RowOf(const Config& config, uint64_t i) {
  Edge row = bench::MadeRow(config.first + i);
  if (config.any_length) {
    row.src = bench::OfAnyLength(row.src);
    row.dst = bench::OfAnyLength(row.dst);
  }
  return row;
}

bool KeyLess(const Edge& one, const Edge& other) {
  const auto key = [](const Edge& edge) {
    return std::make_tuple(Raw(edge.dst), BucketOf(edge.src), Raw(edge.src));
  };
  return key(one) < key(other);
}

std::vector<Batch> Batches(const Config& config, const ShardMap& map) {
  std::vector<std::vector<Edge>> filling(map.shards());
  std::vector<Batch> batches;
  const auto cut = [&](Shard shard) {
    if (filling[shard].empty()) return;
    std::sort(filling[shard].begin(), filling[shard].end(), KeyLess);
    batches.push_back({shard, std::move(filling[shard])});
    filling[shard].clear();
  };
  for (uint64_t i = 0; i < config.rows; ++i) {
    const Edge row = RowOf(config, i);
    const Shard shard = map.ShardOf(row.dst);
    filling[shard].push_back(row);
    if (filling[shard].size() == config.batch) cut(shard);
  }
  for (Shard shard = 0; shard < map.shards(); ++shard) cut(shard);
  return batches;
}

void Apply(mysql::ShardConnections& connections, const Batch& batch) {
  mysql::ReverseResult result;
  bench::Must(connections.Run(batch.shard, [&](mysql::Connection& connection) {
    result = mysql::ApplyReverse(connection, batch.edges);
  }));
  const bool all = std::all_of(result.applied.begin(), result.applied.end(),
                               [](const auto& each) { return each.transition == 1; });
  bench::Must(all, "an edge was there before");
}

void Upsert(mysql::ShardConnections& connections, const Batch& batch) {
  uint64_t written = 0;
  bench::Must(connections.Run(batch.shard, [&](mysql::Connection& connection) {
    written = connection.Execute(bench::UpsertFollowersSql(batch.edges));
  }));
  bench::Must(written == batch.edges.size(), "an edge was there before");
}

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-apply", "reverse rows, or bare upserts of them");
  AddOptions(table, config);
  const std::string command = table.ParseOrExit(argc, argv).command;

  const mysql::Config shards = options::ToConfig(config.mysql);
  mysql::Installation installation;
  bench::Must(mysql::ReadInstallation(shards, &installation));
  const ShardMap& map = installation.shard_map;
  mysql::ShardConnections connections(shards);
  bench::OpenAll(connections, map);
  bench::MakeBareTable(connections, map, "follower");
  const std::vector<Batch> batches = Batches(config, map);

  const bench::Stopwatch watch;
  for (const Batch& batch : batches) {
    command == "apply" ? Apply(connections, batch) : Upsert(connections, batch);
  }
  const double seconds = watch.Seconds();
  const Edge one = RowOf(config, 0);
  std::printf(
      "{\"rows\": %llu, \"seconds\": %.6f, \"statement\": \"%s\", \"durability\": \"%s\"}\n",
      static_cast<unsigned long long>(config.rows), seconds,
      bench::UpsertFollowersSql({&one, 1}).c_str(), bench::Durability(connections).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-apply", [&] { return Main(argc, argv); });
}
