// Requests about who follows whom: forward and reverse rows, friendships, log1 and repairs.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/edges/mutes.h"
#include "backends/mysql/repairs/repair_store.h"
#include "backends/mysql/sql/shard_connections.h"
#include "tests/integration/mysql/friendships.h"
#include "tests/integration/mysql/model/world.h"

namespace fanline::mysql::model {

struct Edges {
  World& world;

  const Config& config = world.shards.config();
  const ShardMap& map = world.shards.map();
  fakes::FakeRelations& fake = world.fake.relations;
  MysqlForwardStore forward{config, HealthSink(), kNoLog, {map, kMostFollowed}};
  MysqlReverseStore reverse{config, HealthSink(), kNoLog};
  MysqlChangeStore log{config, HealthSink(), kNoLog};
  MysqlRepairStore repairs{config, map, kNoLog, 1};
  ShardConnections connections{config};
  Friendships friendships{config, map, kMostFollowed};
  std::vector<std::vector<LogRow>> seen{world.shards.count()};  // of log1, some of them gone

  std::string Draw() {
    const uint64_t dice = world.Below(100);
    if (dice < 30) return Change();
    if (dice < 50) return Apply();
    if (dice < 60) return Befriend();
    if (dice < 64) return Announce();
    if (dice < 67) return Mute();
    if (dice < 71) return Read();
    if (dice < 74) return AskAgain();
    if (dice < 84) return Mark();
    if (dice < 86) return Purge();
    if (dice < 89) return Scan();
    if (dice < 93) return Adopt();
    if (dice < 98) return ReadBoth();
    return LoseRows();
  }

  std::string Change() {
    const EdgeKey key = world.OneIn(50) ? EdgeKey{world.users[0], world.users[0]} : world.Edge();
    const auto origin = static_cast<Origin>(world.Below(3));
    ChangeEdge request{0, {key.src, key.dst, !world.OneIn(3), Microseconds(), origin, 0}};
    if (origin != Origin::kUser) request.change.origin_version = world.Version();
    if (origin == Origin::kFriendship && world.OneIn(2)) {
      const auto pair = fake.Pair(std::min(key.src, key.dst), std::max(key.src, key.dst));
      request.change.origin_version = std::max<uint64_t>(pair.ver, 1);
    }
    if (origin != Origin::kFriendship && request.change.live && world.OneIn(2)) {
      request.change.delivery = AnyDelivery();
    }
    world.Compare(fake, forward, request);
    return "change of " + Text(EdgeOf(key, {}));
  }
  Delivery AnyDelivery() { return *DeliveryOf(world.Below(3)); }
  // Draws one of few times. Some differ only in microseconds, others in milliseconds.
  uint64_t Microseconds() { return world.OneIn(2) ? world.Version() : 1'000 * world.Below(9) + 1; }

  EdgeState RowOf(const fakes::FakeRelations::Edges& rows, const EdgeKey& key) const {
    const auto found = rows.find(key);
    return found == rows.end() ? EdgeState{} : found->second;
  }

  // Applies the forward row's state, or some state of any version. Within a request, equal versions
  // of an edge have the same state.
  std::string Apply() {
    ApplyEdges request{0, world.AnyShard(), {}};
    std::map<std::pair<EdgeKey, uint64_t>, EdgeState> said;
    for (uint64_t i = 1 + world.Below(5); i > 0; --i) {
      EdgeKey key = world.Edge();
      if (map.ShardOf(key.dst) != request.shard) continue;
      EdgeState state = RowOf(fake.forward(), key);
      if (state.ver == 0 || world.OneIn(4)) {
        state = {world.Version(), world.OneIn(2), static_cast<UnixMs>(world.Below(5))};
        if (state.live) state.delivery = AnyDelivery();
      }
      state = said.try_emplace({key, state.ver}, state).first->second;
      request.edges.push_back(EdgeOf(key, state));
      if (world.OneIn(5)) request.edges.push_back(request.edges.front());
    }
    if (request.edges.empty()) return "nothing to apply";
    if (world.OneIn(3)) {
      world.Compare(fake, repairs, request);
    } else {
      world.Compare(fake, reverse, request);
    }
    return "reverse rows";
  }

  std::string Befriend() {
    const auto [who, whom] = world.Edge();
    const FriendAction action =
        world.Of(std::vector(std::begin(kFriendActions), std::end(kFriendActions)));
    const uint64_t unix_us = Microseconds();
    FriendshipRun run(action, who, whom, unix_us);
    AskAll(run, run.Begin(), [this](const auto& request) { return fake.Do(request); });
    FriendshipStep got;
    const Status status = friendships.Change(action, who, whom, unix_us, &got);
    const FriendshipStep& expected = run.result();
    EXPECT_EQ(Words(status, got.changed, got.now),
              Words(expected.status, expected.changed, expected.now));
    return std::string(NameOf(action)) + " of " + Text(EdgeOf({who, whom}, {}));
  }

  // An announcement whose service died before it wrote the pair's row.
  std::string Announce() {
    const EdgeKey key = world.Edge();
    const uint64_t version = world.Version();
    uint64_t settled = 0;
    const Status status = connections.Run(map.ShardOf(key.src), [&](Connection& connection) {
      settled = AnnounceFriendship(connection, key, version);
    });
    EXPECT_TRUE(status.done()) << status.message;
    EXPECT_EQ(settled, fake.Announce(key, version));
    return "announcement to " + Text(EdgeOf(key, {}));
  }

  std::string Mute() {
    ChangeMutes request{.user = world.User()};
    request.what = static_cast<ChangeMutes::What>(world.Below(3));
    for (uint64_t i = world.Below(4); i > 0; --i) request.authors.push_back(world.User());
    if (world.OneIn(3)) request.expected = fake.mutes(request.user).version - world.Below(2);
    request.unix_us = Microseconds();
    const MutesChanged expected = fake.Do(request);
    MutesChanged got;
    const Status status = connections.Run(map.ShardOf(request.user), [&](Connection& connection) {
      got = ChangeMutesRow(connection, request);
    });
    EXPECT_TRUE(status.done()) << status.message;
    EXPECT_EQ(got.now, expected.now);
    EXPECT_EQ(Words(got.changed, got.conflicts, got.over_limit),
              Words(expected.changed, expected.conflicts, expected.over_limit));
    return "mutes of " + ToString(request.user);
  }

  std::string Text1(const LoggedChange& change, UnixMs now) const {
    return Words(change.id, static_cast<uint32_t>(change.kind), change.edge,
                 Hours(std::chrono::milliseconds(now - change.written_at)));
  }
  std::vector<LoggedChange> ComparePending(const ReadPending& request) {
    const PendingRead expected = fake.Do(request), got = Ask(log, request);
    EXPECT_TRUE(got.status.done()) << got.status.message;
    const UnixMs now = std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count();
    std::vector<std::string> wanted, found;
    for (const auto& change : expected.changes) wanted.push_back(Text1(change, fake.now));
    for (const auto& change : got.changes) found.push_back(Text1(change, now));
    EXPECT_EQ(found, wanted);
    return expected.changes;
  }

  std::string Read() {
    const Shard shard = world.AnyShard();
    const uint64_t after = seen[shard].empty() || world.OneIn(2) ? 0 : world.Of(seen[shard]).id;
    const auto limit = static_cast<uint32_t>(1 + world.Below(30));
    for (const LoggedChange& change : ComparePending({0, shard, after, limit})) {
      seen[shard].push_back(change.row());
    }
    return "pending rows";
  }

  // Some are done, gone, or another's now.
  std::string AskAgain() {
    AskPending request{0, world.AnyShard(), {}};
    if (seen[request.shard].empty()) return "nothing to ask";
    for (uint64_t i = 1 + world.Below(12); i > 0; --i) {
      request.log_ids.push_back(world.Of(seen[request.shard]).id);
    }
    const auto rows = [](const PendingAsked& reply) {
      std::vector<LogRow> found;
      for (const LoggedChange& change : reply.pending) found.push_back(change.row());
      std::sort(found.begin(), found.end());
      return found;
    };
    EXPECT_EQ(rows(Ask(log, request)), rows(fake.Do(request)));
    return "rows by id";
  }

  // Includes rows that are done or lost, or whose id is another row's now.
  std::string Mark() {
    MarkDone request{0, world.AnyShard(), {}};
    if (seen[request.shard].empty()) return "nothing to mark";
    for (uint64_t i = 1 + world.Below(12); i > 0; --i) {
      LogRow row = world.Of(seen[request.shard]);
      if (world.OneIn(6)) ++row.ver;
      if (world.OneIn(12)) row.kind = ChangeKind::kFriendship;
      request.rows.push_back(row);
    }
    fake.Do(request);
    EXPECT_EQ(Text(Ask(log, request).status), "done");
    return "marks";
  }

  std::string Purge() {
    const auto keep = std::chrono::hours(world.Below(4)) + std::chrono::minutes(30);
    const PurgeDone request{0, world.AnyShard(), keep, static_cast<uint32_t>(1 + world.Below(20))};
    const PurgedDone expected = fake.Do(request), got = Ask(log, request);
    EXPECT_EQ(Words(got.status, got.deleted), Words(expected.status, expected.deleted));
    return "purge";
  }

  // A page of the log scan, which passes it most of the time.
  std::string Scan() {
    const ReadLogged request{0, world.AnyShard(),
                             std::chrono::hours(world.Below(4)) + std::chrono::minutes(30),
                             static_cast<uint32_t>(1 + world.Below(20))};
    const LoggedRead expected = fake.Do(request), got = Ask(log, request);
    const auto rows = [](const LoggedRead& read) {
      std::vector<LogRow> found;
      for (const LoggedChange& change : read.changes) found.push_back(change.row());
      return found;
    };
    EXPECT_EQ(rows(got), rows(expected));
    EXPECT_EQ(Words(got.status, got.place, got.last, got.more),
              Words(expected.status, expected.place, expected.last, expected.more));
    if (world.OneIn(4)) return "a page of the log scan";
    const uint64_t from = world.OneIn(4) ? got.place + 1 : got.place;
    const MoveLogScan move{0, request.shard, from, std::max(from, got.last), 1};
    fake.Do(move);
    EXPECT_EQ(Text(Ask(log, move).status), "done");
    return "a page of the log scan, passed";
  }

  std::string Adopt() {
    const EdgeKey key = world.Edge();
    EdgeState state = RowOf(world.OneIn(2) ? fake.forward() : fake.reverse(), key);
    if (world.OneIn(3)) state.pos = static_cast<UnixMs>(world.Below(5));
    if (world.OneIn(3)) state.live = !state.live;
    state.delivery = state.live ? AnyDelivery() : Delivery::kAll;
    state.ver = world.OneIn(2) ? world.Version() : state.ver + 1;
    world.Compare(fake, repairs, AdoptEdge{0, EdgeOf(key, state)});
    return "adoption of " + Text(EdgeOf(key, state));
  }

  std::string ReadBoth() {
    ReadEdges request;
    std::vector<RowsOfEdge> expected;
    const EdgeKey first = world.Edge();
    for (uint64_t i = 1 + world.Below(6); i > 0; --i) {
      const EdgeKey key = request.edges.empty() ? first : world.Edge();
      if (map.ShardOf(key.src) != map.ShardOf(first.src)) continue;
      if (map.ShardOf(key.dst) != map.ShardOf(first.dst)) continue;
      request.edges.push_back(key);
      expected.push_back({RowOf(fake.reverse(), key), RowOf(fake.forward(), key)});
    }
    EXPECT_EQ(Text(Ask(repairs, request).rows), Text(expected));
    return "rows of edges";
  }

  // Like a failover that loses the tail of log1: ids are given out again.
  std::string LoseRows() {
    const Shard shard = world.AnyShard();
    const auto most = static_cast<uint64_t>(world.shards.Number(shard, NextId()) - 1);
    const uint64_t lost = world.Below(std::min<uint64_t>(most, 5) + 1);
    const std::string left = std::to_string(most - lost);
    fake.LoseRows(shard, lost);
    world.shards.on(shard).Execute("DELETE FROM log1 WHERE id > " + left);
    world.shards.on(shard).Execute("ALTER TABLE log1 AUTO_INCREMENT = " +
                                   std::to_string(most - lost + 1));
    return "lost tail";
  }
  // MySQL gives NULL for a table that never had a row.
  static std::string NextId() {
    return "SELECT COALESCE(auto_increment, 1) FROM information_schema.tables WHERE table_name = "
           "'log1'"
           " AND table_schema = DATABASE()";
  }

  void CompareContents() {
    EXPECT_EQ(world.shards.Rows("following"), RowsOf(fake.forward()));
    EXPECT_EQ(world.shards.Rows("follower"), RowsOf(fake.reverse()));
    world.shards.ExpectCountersMatchRows();
    for (const auto& [user, count] : fake.fans()) EXPECT_EQ(world.shards.FansCount(user), count);
    for (Shard shard = 0; shard < world.shards.count(); ++shard) {
      ComparePending({0, shard, 0, 100'000});
    }
    std::set<std::string> awaits, expected;
    for (Shard shard = 0; shard < world.shards.count(); ++shard) {
      world.shards.on(shard).Query(
          "SELECT src, dst FROM following WHERE friend_announced > friend_version",
          [&](const Row& row) { awaits.insert(Words(row.UInt64(1), row.UInt64(2))); });
    }
    for (const auto& [key, state] : fake.forward()) {
      if (fake.AwaitsFriendship(key)) expected.insert(Words(key.src, key.dst));
    }
    EXPECT_EQ(awaits, expected);
  }
  static std::set<std::string> RowsOf(const fakes::FakeRelations::Edges& rows) {
    std::set<std::string> text;
    for (const auto& [key, state] : rows) {
      text.insert(ToString(key.src) + " " + ToString(key.dst) + " " + std::to_string(state.ver) +
                  (state.live ? " 1 " : " 0 ") + std::to_string(state.pos) + " " +
                  std::to_string(static_cast<int>(state.delivery)));
    }
    return text;
  }
};

}  // namespace fanline::mysql::model
