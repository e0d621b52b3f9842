// fanline-bench-follow: follows of distinct edges by several threads, as long as a caller waits for
// them. There is a connection to every shard for each thread.
//
//   async    the store's change, through its port: forward row, version, counter and log1 row in
//   one
//            transaction
//   sync     the same, then the reverse row as fanline-api writes it at once
//   upsert   the other side: one autocommit guarded upsert per edge, into a table like `following`,
//            each thread on connections of its own
//
// The same numbers are the same edges on both sides; `following` must not hold them yet. Prints
// {"changes": n, "seconds": s, "threads": t, "late": reverse rows that were not waited for,
// "statement": of upsert, "durability": of the server}.
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "api/inline_mirror.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/installation/installation.h"
#include "backends/options/mysql_settings.h"
#include "bench/bare_rows.h"
#include "bench/made_edges.h"
#include "bench/round.h"
#include "bench/threads.h"
#include "daemon/clock.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "fanline/ports/ask.h"

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

void Quiet(LogLevel, const std::string&) {}
Time Mono() { return daemon::SystemNow().mono; }

struct AlwaysSync : Serves<ReadMirrorMode> {
  void Submit(ReadMirrorMode request, ReplyTo<MirrorModeRead> to) override {
    to({request.id, Status::Done(), MirrorMode::kSync});
  }
};

// Changes that also write their reverse rows at once, wired as in fanline-api.
class AtOnce {
 public:
  AtOnce(const mysql::Config& config, const ShardMap& map, mysql::MysqlForwardStore& forward)
      : reverse_(config, {}, Quiet, {}, {.threads_per_shard = 2, .batch = 8, .queue = 1'024}) {
    mirror_.emplace(api::InlineMirror::Servers{forward, reverse_, modes_}, map, counts_, Mono);
    mirror_->Step(Mono());
    ticks_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        mirror_->Step(Mono());
      }
    });
  }

  Serves<ChangeEdge>& server() { return *mirror_; }
  uint64_t late() const {
    bench::Must(counts_.failed == 0, "a reverse row could not be written");
    return counts_.late;
  }

 private:
  InlineCounts counts_;
  AlwaysSync modes_;
  std::optional<api::InlineMirror> mirror_;  // outlives the store, which replies to it
  mysql::MysqlReverseStore reverse_;
  std::jthread ticks_;
};

double Follow(const Config& config, Serves<ChangeEdge>& server) {
  return bench::SecondsOf(config.threads, [&](uint32_t thread) {
    const auto answers = std::make_shared<Answers<EdgeChanged>>();
    return [&config, &server, answers, thread] {
      ForShare(config, thread, [&](const Edge& row) {
        const EdgeChanged now =
            answers->Ask(server, ChangeEdge{0, {row.src, row.dst, true, row.ver}});
        bench::Must(now.status);
        bench::Must(now.forward.changed, "an edge was there before");
      });
    };
  });
}

// Waits until all workers are connected: the health sink of a shard tells of its first one alone.
void AwaitConnections(const mysql::Config& config, uint32_t threads) {
  mysql::ShardConnections connections(config);
  const auto open = [&](Shard shard) {
    uint64_t count = 0;
    bench::Must(connections.Run(shard, [&](mysql::Connection& connection) {
      connection.Query("SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE()",
                       [&](const mysql::Row& row) { count = row.UInt64(1); });
    }));
    return count > threads;  // with the one that asks
  };
  for (Shard shard = 0; shard < config.shards.size(); ++shard) {
    while (!open(shard)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
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
  } else {
    mysql::MysqlForwardStore forward(shards, {}, Quiet, {map, kMostFollowed},
                                     {.threads_per_shard = config.threads});
    AwaitConnections(shards, config.threads);
    std::optional<AtOnce> at_once;
    if (command == "sync") at_once.emplace(shards, map, forward);
    seconds = Follow(config, at_once ? at_once->server() : forward);
    if (at_once) late = at_once->late();
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
