#include "reconciler/log_scanner.h"

#include <gtest/gtest.h>

#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

using std::chrono::seconds;

EdgeKey EdgeBy(uint64_t src) { return {UserId{src}, UserId{2}}; }
constexpr EdgeState kAsLogged{100, true, 5};
constexpr EdgeKey kToHigh{UserId{5}, UserId{6}}, kToLow{UserId{6}, UserId{5}};

// Rows of log1 of one shard, all old enough, and the versions of friendships at the edges.
struct ScanWorld : RepairWorld,
                   ServesAll<ScanWorld, ReadLogged, MoveLogScan, ReadFriendVersions, LogAgain> {
  struct Row {
    LoggedChange change;
    bool done = true;
  };

  void Serve(const ReadLogged& request, ReplyTo<LoggedRead> to) {
    ++pages;
    scanned.insert(request.shard);
    LoggedRead reply{request.id, {}, place, passed, {}, place, 0, false};
    if (away.contains("pages")) reply.status = Status::Later("mysql_0", "away");
    for (auto row = rows.upper_bound(place); row != rows.end() && reply.status.done(); ++row) {
      reply.more = row->first - place == request.limit;
      reply.last = row->first;
      reply.up_to = static_cast<UnixMs>(row->first);
      if (row->second.done) reply.changes.push_back(row->second.change);
      if (reply.more) break;
    }
    to(reply);
  }
  void Serve(const MoveLogScan& request, ReplyTo<LogScanMoved> to) {
    if (place == request.from) place = request.to;
    to({request.id, {}});
  }
  void Serve(const ReadFriendVersions& request, ReplyTo<FriendVersionsRead> to) {
    FriendVersionsRead reply{request.id, {}, {}};
    if (away.contains("friends")) reply.status = Status::Later("mysql_0", "away");
    for (const EdgeKey& edge : request.edges) reply.versions.push_back(friends[edge]);
    to(reply);
  }
  void Serve(const LogAgain& request, ReplyTo<LoggedAgain> to) {
    const bool fails = away.contains("again");
    if (!fails) again.push_back(request.change);
    to({request.id, fails ? Status::Later("mysql_0", "away") : Status::Done()});
  }
  void FriendshipRepaired(Duration) override { ++friendships; }
  void Unscanned(Scan scan, Duration age) override { unscanned[scan] = age; }

  void Add(uint64_t id, const EdgeState& state, bool is_done = true) {
    rows[id] = {{id, ChangeKind::kEdge, EdgeOf(EdgeBy(10 + id), state), 0}, is_done};
  }
  void AddFriends(uint64_t id, uint64_t ver) {
    rows[id] = {{id, ChangeKind::kFriendship, EdgeOf(kToHigh, {ver, true, 5}), 0}, true};
  }

  std::map<uint64_t, Row> rows;
  uint64_t place = 0;
  UnixMs passed = 0;
  std::map<Scan, Duration> unscanned;
  int pages = 0, friendships = 0;
  std::set<Shard> scanned;
  std::map<EdgeKey, uint64_t> friends;
  std::vector<LoggedChange> again;
};

struct LogScannerTest : ::testing::Test {
  LogScannerTest() {
    gate.SetMode(ReconcilerMode::kRun);
    scanner.Own({0});
  }

  void Step() {
    do {
      fakes::Inbox<LogScanInput> given;
      given.swap(inputs);
      next = scanner.Step(given, now).next_timer;
      while (!world.requests.empty()) world.Answer();
    } while (!inputs.empty());
  }
  void Pass(Duration time) {
    now.mono += time;
    now.unix_ms += Milliseconds(time);
    Step();
  }

  RepairWorld& repairs() { return world; }
  LogScanner::Ports PortsOfAll() {
    const auto to = AsPart<ComparerReply>(inputs);
    return {.comparer = {.log = {repairs(), to},
                         .store = {repairs(), to},
                         .retries = {repairs(), to},
                         .metrics = world},
            .log = {world, inputs},
            .repairs = {repairs(), inputs},
            .metrics = world};
  }

  ScanWorld world;
  RepairGate gate{GateLimits{}, 1};
  fakes::Inbox<LogScanInput> inputs;
  LogScanner scanner{PortsOfAll(), {}, 1, {}, {.rows = 10}, gate};
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
  std::optional<Time> next;
};

TEST_F(LogScannerTest, ARowThatWasMarkedWithoutItsWorkIsFound) {
  world.Add(1, kAsLogged);
  world.forward[EdgeBy(11)] = kAsLogged;
  Step();
  EXPECT_EQ(world.place, 0u) << "its edge is held for a grace";
  Pass(seconds(3));
  ASSERT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(world.retries[0].edge, EdgeBy(11));
  EXPECT_EQ(world.place, 1u);
}

TEST_F(LogScannerTest, WhatIsPendingIsTheMirrorsAndPassed) {
  world.Add(1, kAsLogged, false);
  Step();
  EXPECT_EQ(world.place, 1u);
  EXPECT_TRUE(world.read.empty());
}

TEST_F(LogScannerTest, RowsThatSayNothingOfAnEdgeArePassed) {
  const UserId ann{7};
  world.rows[1] = {{1, ChangeKind::kMutes, EdgeOf({ann, ann}, kAsLogged), 0}};
  world.rows[2] = {{2, ChangeKind::kEdge, EdgeOf({ann, ann}, kAsLogged), 0}};
  world.rows[3] = {{3, static_cast<ChangeKind>(9), EdgeOf(EdgeBy(10), kAsLogged), 0}};
  world.rows[4] = {{4, ChangeKind::kFriendship, EdgeOf({ann, ann}, kAsLogged), 0}};
  Step();
  Pass(seconds(3));
  EXPECT_EQ(world.place, 4u);
  EXPECT_TRUE(world.read.empty() && world.again.empty()) << "mutes, or set aside as damaged";
}

TEST_F(LogScannerTest, FullPagesFollowEachOtherAtOnceAndThenItRests) {
  for (uint64_t id = 1; id <= 25; ++id) {
    world.Add(id, kAsLogged);
    world.forward[EdgeBy(10 + id)] = world.reverse[EdgeBy(10 + id)] = kAsLogged;
  }
  Step();
  EXPECT_EQ(world.place, 25u);
  EXPECT_EQ(world.pages, 3);
  Pass(seconds(9));
  EXPECT_EQ(world.pages, 3);
  Pass(seconds(1));
  EXPECT_EQ(world.pages, 4);
}

TEST_F(LogScannerTest, ThePlaceWaitsForTheRetries) {
  world.Add(1, kAsLogged);
  world.away = {"store", "retries"};
  Pass(seconds(0));
  Pass(seconds(30));
  EXPECT_EQ(world.place, 0u);
  world.away = {"store"};
  Pass(seconds(30));
  EXPECT_EQ(world.place, 1u);
  EXPECT_EQ(world.retries.size(), 1u);
}

// Also right after a start, and while a page takes long.
TEST_F(LogScannerTest, ItSaysHowFarItIsBehind) {
  world.Add(1, kAsLogged);
  world.passed = now.unix_ms - 7'200'000;
  world.away = {"store", "retries"};
  Step();
  EXPECT_EQ(world.unscanned[Scan::kLog1], std::chrono::hours(2));
}

TEST_F(LogScannerTest, AShardThatIsAwayIsLeftAloneForAWhile) {
  world.away = {"pages"};
  Step();
  EXPECT_EQ(world.pages, 1);
  ASSERT_TRUE(next);
  EXPECT_GT(*next, now.mono);
  world.away.clear();
  Pass(seconds(10));
  EXPECT_EQ(world.pages, 2);
}

TEST_F(LogScannerTest, OnlyOnesOwnShardsAreScannedAndNoneInModePause) {
  world.Add(1, kAsLogged);
  gate.SetMode(ReconcilerMode::kPause);
  Step();
  gate.SetMode(ReconcilerMode::kRun);
  scanner.Own({});
  Pass(seconds(60));
  EXPECT_EQ(world.pages, 0);
  scanner.Own({0});
  Pass(seconds(60));
  EXPECT_EQ(world.pages, 1);
}

TEST_F(LogScannerTest, WhoeverHoldsHalfOfThePartitionsScansHalfOfTheShards) {
  RepairGate both(GateLimits{}, 2);
  both.SetMode(ReconcilerMode::kRun);
  const Checker::Setup setup{.shards = {ShardMap::Even(2), ShardMap::Even(2)}};
  LogScanner half(PortsOfAll(), setup, 8, {}, {}, both);
  half.Own({0, 1, 2, 3});
  (void)half.Step({}, now);
  EXPECT_EQ(world.scanned, std::set<Shard>{0});
}

// ---- friendships ----------------------------------------------------------------------------

TEST_F(LogScannerTest, AFriendshipThatBothEdgesHaveIsRight) {
  world.AddFriends(1, 40);
  world.friends[kToHigh] = 40;
  world.friends[kToLow] = 50;
  Step();
  EXPECT_EQ(world.place, 1u);
  EXPECT_TRUE(world.again.empty());
}

TEST_F(LogScannerTest, AFriendshipThatOneEdgeLostIsRecordedAndLoggedAgain) {
  for (const EdgeKey& has : {kToHigh, kToLow}) {
    world.rows.clear();
    world.place = 0;
    world.friends.clear();
    world.AddFriends(1, 40);
    world.friends[has] = 40;
    Pass(seconds(10));
    ASSERT_EQ(world.again.size(), 1u);
    EXPECT_EQ(world.again[0].row(), world.rows[1].change.row());
    EXPECT_EQ(world.repairs.back().cause, "friendship");
    EXPECT_EQ(world.place, 1u);
    world.again.clear();
  }
  EXPECT_EQ(world.friendships, 2);
}

TEST_F(LogScannerTest, ThePlaceWaitsUntilTheFriendshipIsLoggedAgain) {
  world.AddFriends(1, 40);
  for (const char* what : {"log", "again"}) {
    world.away = {what};
    Pass(seconds(10));
    EXPECT_EQ(world.place, 0u) << what;
  }
  world.away.clear();
  Pass(seconds(10));
  EXPECT_EQ(world.place, 1u);
  EXPECT_EQ(world.again.size(), 1u);
}

TEST_F(LogScannerTest, WhenNobodyKnowsItIsLoggedAgainWithoutARecord) {
  world.AddFriends(1, 40);
  world.away = {"friends"};
  Step();
  EXPECT_EQ(world.again.size(), 1u);
  EXPECT_TRUE(world.repairs.empty());
  EXPECT_EQ(world.friendships, 0);
  EXPECT_EQ(world.place, 1u);
}

TEST_F(LogScannerTest, ADryRunOnlyReportsAFriendship) {
  gate.SetMode(ReconcilerMode::kDryRun);
  world.AddFriends(1, 40);
  Step();
  EXPECT_EQ(world.withheld, 1);
  EXPECT_TRUE(world.again.empty());
  EXPECT_EQ(world.place, 1u);
}

}  // namespace
}  // namespace fanline::reconciler
