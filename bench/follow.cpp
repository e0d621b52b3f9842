// fanline-bench-follow: follows of distinct edges by several callers, each of which waits for one
// at a time. There is a connection to every shard for each caller.
//
//   async    the store's change, through its port: forward row, version, counter and log1 row in
//            one transaction
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
#include <string>
#include <thread>

#include "api/inline_mirror.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/options/mysql_settings.h"
#include "bench/made_up.h"
#include "bench/round.h"
#include "bench/threads.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "fanline/base/mono_now.h"
#include "fanline/model/edge.h"

using namespace fanline;

namespace {

// The made-up edges: distinct for distinct numbers below 2^36, the same in every run. 20 in a row
// have one author, and authors are spread over all ids. Followers are 5,000 users drawn at random,
// so that each follows many and two threads seldom meet at one.
constexpr EdgeKey MadeEdge(uint64_t number) {
  constexpr uint64_t kFirstFollower = 1'000'000'000, kFirstAuthor = 20'000'000'000;
  constexpr uint64_t kFollowers = 5'000, kFollowersEach = 20;
  constexpr uint64_t kStep = 241;  // 20 of them fit, so the 20 are distinct
  const uint64_t block = number / kFollowersEach;
  const uint64_t follower = (bench::Mixed(block) + number % kFollowersEach * kStep) % kFollowers;
  const auto author = static_cast<uint32_t>(block * 2'654'435'761u);  // odd: each another
  return {UserId{kFirstFollower + follower}, UserId{kFirstAuthor + author}};
}

// The edge's row as a follow makes it. Versions are microseconds, as those of the store are.
constexpr Edge MadeRow(uint64_t number) {
  constexpr UnixMs kAt = 1'700'000'000'000;
  const UnixMs pos = kAt + static_cast<UnixMs>(number);
  return EdgeOf(MadeEdge(number), {static_cast<uint64_t>(pos) * 1'000, true, pos});
}

struct Config {
  options::MysqlSettings mysql;
  uint64_t first = 0;
  uint64_t changes = 0;
  uint32_t threads = 8;
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.mysql);
  table.Add("first", &config.first, "number of the first edge");
  table.Add("changes", &config.changes, "how many").Range(1, INT64_MAX).Required();
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
Time Mono() { return SystemNow().mono; }

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

// Follows the edges of one shard, one after the other. The answer asks for the next, on the thread
// of that shard's worker. So no other thread is woken for it, as none is on the other side, whose
// callers have connections of their own.
class Caller {
 public:
  Caller(Serves<ChangeEdge>& server, const ShardMap& map, Shard shard, uint64_t begin, uint64_t end)
      : server_(server), map_(map), shard_(shard), next_(begin), end_(end) {}

  void Next() {
    while (next_ < end_ && map_.ShardOf(MadeEdge(next_).src) != shard_) ++next_;
    if (next_ == end_) return ended_.set_value();
    const Edge row = MadeRow(next_++);
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
  const ShardMap& map_;
  const Shard shard_;
  uint64_t next_;
  const uint64_t end_;
  std::promise<void> ended_;
};

// As many callers in a row as there are shards have the edges of as many threads.
double Follow(const Config& config, const ShardMap& map, Serves<ChangeEdge>& server,
              std::deque<Caller>& callers) {
  bench::Must(config.threads % map.shards() == 0, "--threads is a multiple of the shards");
  for (uint32_t i = 0; i < config.threads; ++i) {
    const auto shard = static_cast<Shard>(i % map.shards());
    const uint32_t first = i - shard;
    callers.emplace_back(server, map, shard, BeginOf(config, first),
                         BeginOf(config, first + map.shards()));
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

// ---- the other side -------------------------------------------------------------------------

void RunOnEach(mysql::ShardConnections& connections, const ShardMap& map, const char* sql) {
  for (Shard shard = 0; shard < map.shards(); ++shard) {
    bench::Must(
        connections.Run(shard, [&](mysql::Connection& connection) { connection.Execute(sql); }));
  }
}

// The higher version wins, and nothing is counted, logged or told.
std::string UpsertSql(const Edge& row) {
  std::string sql = "INSERT INTO bare_following (src, dst, ver, state, pos) VALUES ";
  mysql::AppendTuple(sql, Raw(row.src), Raw(row.dst), row.ver, int{row.live}, row.pos);
  return sql +
         " ON DUPLICATE KEY UPDATE state = IF(VALUES(ver) > ver, VALUES(state), state),"
         " pos = IF(VALUES(ver) > ver, VALUES(pos), pos), ver = GREATEST(ver, VALUES(ver))";
}

// What a commit on this server survives: "innodb_flush_log_at_trx_commit=2, ...".
std::string Durability(mysql::ShardConnections& connections) {
  std::string text;
  bench::Must(connections.Run(0, [&](mysql::Connection& connection) {
    connection.Query(
        "SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit,"
        " ', innodb_doublewrite=', @@innodb_doublewrite, ', log_bin=', @@log_bin)",
        [&](const mysql::Row& row) { text = row.Text(1); });
  }));
  return text;
}

double Upsert(const Config& config, const mysql::Config& shards, const ShardMap& map) {
  mysql::ShardConnections first(shards);
  RunOnEach(first, map, "CREATE TABLE IF NOT EXISTS bare_following LIKE following");
  return bench::SecondsOf(config.threads, [&](uint32_t thread) {
    auto connections = std::make_shared<mysql::ShardConnections>(shards);
    RunOnEach(*connections, map, "DO 1");  // opens them before the clock runs
    return [&config, &map, connections, thread] {
      for (uint64_t i = BeginOf(config, thread); i < BeginOf(config, thread + 1); ++i) {
        const Edge row = MadeRow(i);
        uint64_t written = 0;
        bench::Must(connections->Run(map.ShardOf(row.src), [&](mysql::Connection& connection) {
          written = connection.Execute(UpsertSql(row));
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
    seconds = Follow(config, map, at_once ? at_once->server() : forward, callers);
    if (at_once) late = at_once->late();
  }
  std::printf(
      "{\"changes\": %llu, \"seconds\": %.6f, \"threads\": %u, \"late\": %llu, \"statement\": "
      "\"%s\","
      " \"durability\": \"%s\"}\n",
      static_cast<unsigned long long>(config.changes), seconds, config.threads,
      static_cast<unsigned long long>(late), UpsertSql(MadeRow(config.first)).c_str(),
      Durability(connections).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-follow", [&] { return Main(argc, argv); });
}
