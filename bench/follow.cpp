// fanline-bench-follow: follows of distinct edges by several threads, each with a connection of its
// own to every shard, as long as a caller waits for them.
//
//   async    the store's change: forward row, version, counter and log1 row in one transaction
//   sync     the same, then the reverse row as fanline-api writes it at once
//   upsert   the other side: one autocommit guarded upsert per edge, into a table like `following`
//
// The same numbers are the same edges on both sides; `following` must not hold them yet. Prints
// {"changes": n, "seconds": s, "threads": t, "late": reverse rows that were not waited for,
// "statement": of upsert, "durability": of the server}.
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "api/inline_mirror.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/installation/installation.h"
#include "backends/options/mysql_settings.h"
#include "bench/bare_rows.h"
#include "bench/made_edges.h"
#include "bench/round.h"
#include "bench/threads.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"

using namespace fanline;

namespace {

struct Config {
  options::MysqlSettings mysql;
  uint64_t first = 0;
  uint64_t changes = 0;
  uint32_t threads = 8;
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.mysql);
  table.Add("first", &config.first, "number of the first edge");
  table.Add("changes", &config.changes, "how many").AtLeast(1).Required();
  table.Add("threads", &config.threads, "how many change at a time").Range(1, 64);
  table.AddCommand("async", "the store's change");
  table.AddCommand("sync", "and the reverse row at once");
  table.AddCommand("upsert", "one statement per edge");
}

// Calls `each` for a thread's contiguous share of the edges.
template <class Each>
void ForShare(const Config& config, uint32_t thread, Each each) {
  const uint64_t begin = config.changes * thread / config.threads;
  const uint64_t end = config.changes * (thread + 1) / config.threads;
  for (uint64_t i = begin; i < end; ++i) each(bench::MadeRow(config.first + i));
}

class InlineCounts : public api::Metrics {
 public:
  void MirroredInline(api::InlineResult result) override {
    if (result == api::InlineResult::kLate) ++late;
    if (result == api::InlineResult::kFailed) ++failed;
  }
  std::atomic<uint64_t> late = 0, failed = 0;
};

// The reverse rows, wired as in fanline-api.
class AtOnce {
 public:
  AtOnce(const mysql::Config& config, const ShardMap& map)
      : reverse_(config, {}, Quiet, {}, {.threads_per_shard = 2, .batch = 8, .queue = 1'024}),
        modes_(config, {}, Quiet) {
    mirror_.emplace(reverse_, modes_, map, counts_);
    mirror_->Push(MirrorModeRead{.id = 0, .status = Status::Done(), .mode = MirrorMode::kSync});
  }

  void After(const ForwardChanged& changed) { mirror_->After(changed); }
  uint64_t late() const {
    bench::Must(counts_.failed == 0, "a reverse row could not be written");
    return counts_.late;
  }

 private:
  static void Quiet(LogLevel, const std::string&) {}

  InlineCounts counts_;
  std::optional<api::InlineMirror> mirror_;  // outlives the stores, which reply to it
  mysql::MysqlReverseStore reverse_;
  mysql::MysqlChangeStore modes_;
};

// Opens all connections by asking about one user of every shard.
void OpenAll(RelationStore& store, const ShardMap& map) {
  std::vector<bool> open(map.shards(), false);
  for (uint64_t id = 1; id <= kBuckets; ++id) {
    const Shard shard = map.ShardOf(UserId{id});
    if (open[shard]) continue;
    open[shard] = true;
    RelationCounts counts;
    bench::Must(store.Counts(UserId{id}, &counts));
  }
}

double Follow(const Config& config, const mysql::Config& shards, const ShardMap& map,
              const mysql::ForwardSink& changed) {
  return bench::SecondsOf(config.threads, [&](uint32_t thread) {
    auto store = std::make_shared<mysql::MysqlRelationStore>(shards, map, kMostFollowed, changed);
    OpenAll(*store, map);
    return [&config, store, thread] {
      ForShare(config, thread, [&](const Edge& row) {
        FollowingChanged now;
        bench::Must(store->ChangeFollowing(row.key(), true, row.ver, &now));
        bench::Must(now.changed, "an edge was there before");
      });
    };
  });
}

double Upsert(const Config& config, const mysql::Config& shards, const ShardMap& map) {
  mysql::ShardConnections first(shards);
  bench::MakeBareTable(first, map, "following");
  return bench::SecondsOf(config.threads, [&](uint32_t thread) {
    auto connections = std::make_shared<mysql::ShardConnections>(shards);
    bench::OpenAll(*connections, map);
    return [&config, &map, connections, thread] {
      ForShare(config, thread, [&](const Edge& row) {
        uint64_t written = 0;
        bench::Must(connections->Run(map.ShardOf(row.src), [&](mysql::Connection& connection) {
          written = connection.Execute(bench::UpsertFollowingSql(row));
        }));
        bench::Must(written == 1, "an edge was there before");
      });
    };
  });
}

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-follow", "follows, or one upsert for each");
  AddOptions(table, config);
  const std::string command = table.ParseOrExit(argc, argv).command;

  const mysql::Config shards = options::ToConfig(config.mysql);
  mysql::Installation installation;
  bench::Must(mysql::ReadInstallation(shards, &installation));
  const ShardMap& map = installation.shard_map;
  mysql::ShardConnections connections(shards);

  double seconds = 0;
  uint64_t late = 0;
  if (command == "upsert") {
    seconds = Upsert(config, shards, map);
  } else if (command == "async") {
    seconds = Follow(config, shards, map, {});
  } else {
    AtOnce reverse(shards, map);
    seconds = Follow(config, shards, map,
                     [&reverse](const ForwardChanged& changed) { reverse.After(changed); });
    late = reverse.late();
  }
  std::printf(
      "{\"changes\": %llu, \"seconds\": %.6f, \"threads\": %u, \"late\": %llu, \"statement\": "
      "\"%s\","
      " \"durability\": \"%s\"}\n",
      static_cast<unsigned long long>(config.changes), seconds, config.threads,
      static_cast<unsigned long long>(late),
      bench::UpsertFollowingSql(bench::MadeRow(config.first)).c_str(),
      bench::Durability(connections).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-follow", [&] { return Main(argc, argv); });
}
