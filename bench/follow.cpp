// fanline-bench-follow: follows of distinct edges by several callers, each of which waits for one
// at a time. There is a connection to every shard for each caller.
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
#include <deque>
#include <future>
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

// Each caller has a contiguous share of the edges.
uint64_t BeginOf(const Config& config, uint32_t caller) {
  return config.first + config.changes * caller / config.threads;
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

// Follows one edge after the other: the answer asks for the next, as in fanline-api, where no
// thread waits for the store.
class Caller {
 public:
  Caller(Serves<ChangeEdge>& server, uint64_t begin, uint64_t end)
      : server_(server), next_(begin), end_(end) {}

  void Next() {
    if (next_ == end_) return ended_.set_value();
    const Edge row = bench::MadeRow(next_++);
    server_.Submit(ChangeEdge{0, {row.src, row.dst, true, row.ver}}, *this);
  }
  void Push(const EdgeChanged& now) {
    try {
      bench::Must(now.status);
      bench::Must(now.forward.changed, "an edge was there before");
    } catch (...) {
      return ended_.set_exception(std::current_exception());
    }
    Next();
  }
  void Await() { ended_.get_future().get(); }

 private:
  Serves<ChangeEdge>& server_;
  uint64_t next_;
  const uint64_t end_;
  std::promise<void> ended_;
};

double Follow(const Config& config, Serves<ChangeEdge>& server, std::deque<Caller>& callers) {
  for (uint32_t i = 0; i < config.threads; ++i) {
    callers.emplace_back(server, BeginOf(config, i), BeginOf(config, i + 1));
  }
  const bench::Stopwatch watch;
  for (Caller& caller : callers) caller.Next();
  for (Caller& caller : callers) caller.Await();
  return watch.Seconds();
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
      for (uint64_t i = BeginOf(config, thread); i < BeginOf(config, thread + 1); ++i) {
        const Edge row = bench::MadeRow(i);
        uint64_t written = 0;
        bench::Must(connections->Run(map.ShardOf(row.src), [&](mysql::Connection& connection) {
          written = connection.Execute(bench::UpsertFollowingSql(row));
        }));
        bench::Must(written == 1, "an edge was there before");
      }
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
    std::deque<Caller> callers;  // outlive the store, which replies to them
    mysql::MysqlForwardStore forward(shards, {}, Quiet, {map, kMostFollowed},
                                     {.threads_per_shard = config.threads});
    AwaitConnections(shards, config.threads);
    std::optional<AtOnce> at_once;
    if (command == "sync") at_once.emplace(shards, map, forward);
    seconds = Follow(config, at_once ? at_once->server() : forward, callers);
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
