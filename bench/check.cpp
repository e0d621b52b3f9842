// fanline-bench-check: how some users stand to 500 others each, asked in one call, on one thread
// and one connection per shard.
//
//   fill     writes the rows of both directions, without the clock: of the others every second is
//            followed, every third follows
//   check    the store's batched check of both sides
//   select   the other side: one IN query for whom the user follows and one for who follows them,
//            by the same keys, the ids found put into a set
//
// Prints {"ids": n, "seconds": s}.
#include <cstdio>
#include <unordered_set>
#include <vector>

#include "backends/mysql/edges/relation_checks.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/options/mysql_settings.h"
#include "bench/round.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"

using namespace fanline;
using mysql::AppendId;
using mysql::AppendNumber;

namespace {

constexpr uint64_t kItems = 500;  // of one check, at most
constexpr uint64_t kEveryFollowed = 2, kEveryFollower = 3;
constexpr uint64_t kFirstViewer = 3'000'000'000, kFirstOther = 4'000'000'000;

struct Config {
  options::MysqlSettings mysql;
  uint64_t viewers = 0;
  uint64_t calls = 0;
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.mysql);
  table.Add("viewers", &config.viewers, "users who ask, in turn").AtLeast(1).Required();
  table.Add("calls", &config.calls, "how many calls").AtLeast(1);
  table.AddCommand("fill", "writes the rows");
  table.AddCommand("check", "the store's batched check");
  table.AddCommand("select", "two plain queries");
}

UserId Viewer(const Config& config, uint64_t call) {
  return UserId{kFirstViewer + call % config.viewers};
}
// The same others for every viewer, with ids that lie apart.
UserId Other(uint64_t item) { return UserId{kFirstOther + item * 7'919}; }

uint64_t CountEvery(uint64_t every) { return (kItems + every - 1) / every; }

void Fill(const Config& config, mysql::ShardConnections& connections, const ShardMap& map) {
  for (uint64_t i = 0; i < config.viewers; ++i) {
    const UserId viewer = Viewer(config, i);
    std::string following = "INSERT INTO following (src, dst, ver, state, pos) VALUES ";
    std::string follower = "INSERT INTO follower (dst, bucket, src, ver, state, pos) VALUES ";
    const char* separator = "";
    for (uint64_t item = 0; item < kItems; ++item) {
      const std::string other = ToString(Other(item));
      following += separator + ("(" + ToString(viewer) + ",") + other + ",1," +
                   (item % kEveryFollowed == 0 ? "1" : "0") + ",1)";
      follower += separator + ("(" + ToString(viewer) + ",") +
                  std::to_string(BucketOf(Other(item))) + "," + other + ",1," +
                  (item % kEveryFollower == 0 ? "1" : "0") + ",1)";
      separator = ",";
    }
    bench::Must(connections.Run(map.ShardOf(viewer), [&](mysql::Connection& connection) {
      connection.Execute(following);
      connection.Execute(follower);
    }));
  }
}

void Check(mysql::ShardConnections& connections, Shard shard, UserId viewer,
           const std::vector<UserId>& others) {
  std::vector<Standing> standings;
  bench::Must(connections.Run(shard, [&](mysql::Connection& connection) {
    standings = mysql::StandingsOf(connection, {.user = viewer, .others = others});
  }));
  uint64_t followed = 0, followers = 0;
  for (const Standing& standing : standings) {
    followed += standing.followed;
    followers += standing.follower.live;
  }
  bench::Must(followed == CountEvery(kEveryFollowed) && followers == CountEvery(kEveryFollower),
              "a wrong answer");
}

std::string FollowedSql(UserId viewer, const std::vector<UserId>& others) {
  std::string sql = "SELECT dst FROM following WHERE state = 1 AND src = ";
  AppendId(sql, viewer);
  sql += " AND dst IN (";
  mysql::AppendJoined(sql, others, [](std::string& out, UserId other) { AppendId(out, other); });
  return sql + ")";
}

std::string FollowersSql(UserId viewer, const std::vector<UserId>& others) {
  std::string sql = "SELECT src FROM follower WHERE state = 1 AND (dst, bucket, src) IN (";
  mysql::AppendJoined(sql, others, [viewer](std::string& out, UserId other) {
    out += '(';
    AppendId(out, viewer);
    out += ',';
    AppendNumber(out, BucketOf(other));
    out += ',';
    AppendId(out, other);
    out += ')';
  });
  return sql + ")";
}

void Select(mysql::ShardConnections& connections, Shard shard, UserId viewer,
            const std::vector<UserId>& others) {
  std::unordered_set<uint64_t> followed, followers;
  bench::Must(connections.Run(shard, [&](mysql::Connection& connection) {
    connection.Query(FollowedSql(viewer, others),
                     [&](const mysql::Row& row) { followed.insert(row.UInt64(1)); });
    connection.Query(FollowersSql(viewer, others),
                     [&](const mysql::Row& row) { followers.insert(row.UInt64(1)); });
  }));
  bench::Must(followed.size() == CountEvery(kEveryFollowed) &&
                  followers.size() == CountEvery(kEveryFollower),
              "a wrong answer");
}

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-check", "batched checks, or plain queries");
  AddOptions(table, config);
  const std::string command = table.ParseOrExit(argc, argv).command;

  const mysql::Config shards = options::ToConfig(config.mysql);
  mysql::Installation installation;
  bench::Must(mysql::ReadInstallation(shards, &installation));
  const ShardMap& map = installation.shard_map;
  mysql::ShardConnections connections(shards);
  std::vector<UserId> others;
  for (uint64_t item = 0; item < kItems; ++item) others.push_back(Other(item));

  const bench::Stopwatch watch;
  if (command == "fill") Fill(config, connections, map);
  for (uint64_t call = 0; call < config.calls; ++call) {
    const UserId viewer = Viewer(config, call);
    if (command == "check") Check(connections, map.ShardOf(viewer), viewer, others);
    if (command == "select") Select(connections, map.ShardOf(viewer), viewer, others);
  }
  std::printf("{\"ids\": %llu, \"seconds\": %.6f}\n",
              static_cast<unsigned long long>(config.calls * kItems), watch.Seconds());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-check", [&] { return Main(argc, argv); });
}
