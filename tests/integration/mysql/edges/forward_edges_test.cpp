// Changes of forward edges: versions, counters, the log and the limit, on two real shards.
#include "backends/mysql/edges/forward_edges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "backends/mysql/edges/recounts.h"
#include "schemas/sql_schema.h"
#include "tests/integration/mysql/blocking_edges.h"
#include "tests/integration/mysql/demotable_primary.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kMost = 1'000'000;  // its part of an hour is more than a test needs

// Commits of one edge are serial: its rows of the log have growing versions, and each says
// something else than the one before.
constexpr const char* kLogDoesNotAlternate =
    "SELECT COUNT(*) FROM (SELECT ver, state, delivery, LAG(ver) OVER edge AS ver_before,"
    " LAG(state) OVER edge AS state_before, LAG(delivery) OVER edge AS delivery_before FROM log1"
    " WINDOW edge AS (PARTITION BY src, dst ORDER BY id)) AS l"
    " WHERE ver <= ver_before OR (state = state_before AND delivery = delivery_before)";

class ForwardEdgesTest : public ::testing::Test {
 protected:
  ForwardChanged Change(const EdgeChange& change) {
    ForwardChanged changed;
    const Status status = forward_.Change(change, &changed);
    EXPECT_TRUE(status.done()) << status.message;
    return changed;
  }
  ForwardChanged Follow(uint64_t now = kNow) { return Change({ann_, bob_, true, now}); }
  ForwardChanged Unfollow(uint64_t now = kNow) { return Change({ann_, bob_, false, now}); }
  ForwardChanged Choose(Delivery delivery, uint64_t now = kNow) {
    return Change({.src = ann_, .dst = bob_, .live = true, .unix_us = now, .delivery = delivery});
  }
  ForwardChanged App(bool live, uint64_t version, uint64_t now = kNow) {
    return Change({ann_, bob_, live, now, Origin::kApplication, version});
  }

  int64_t Deadlocks(Shard shard) {
    const Config as_admin = AsAdmin(shards_.config());
    Connection admin(as_admin, shard);
    admin.Open();
    int64_t count = -1;
    admin.Query(
        "SELECT `count` FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'",
        [&](const Row& row) { count = row.Int64(1); });
    return count;
  }
  // Wraps a procedure of so many arguments on shard 1: it commits as ever, then waits under the
  // name "held".
  void HoldBackAnswers(const std::string& made, const std::string& name, int arguments) {
    Connection& connection = shards_.on(1);
    const std::string rest = made.substr(made.find(name + "(") + name.size());
    MakeProcedure(connection, "changed_and_silent", rest);
    std::string parameters, values;
    for (int i = 0; i < arguments; ++i) {
      const std::string each = (i > 0 ? ", a" : "a") + std::to_string(i);
      parameters += each + " BIGINT";
      values += each;
    }
    MakeProcedure(connection, name,
                  "(" + parameters +
                      ") BEGIN DECLARE logged INT DEFAULT (SELECT COUNT(*) FROM log1);"
                      " CALL changed_and_silent(" +
                      values +
                      "); IF (SELECT COUNT(*) FROM log1) > logged THEN DO SLEEP(20), 'held';"
                      " END IF; END");
  }
  // Kills one connection that is at a statement like `what`. False: there was none.
  bool KillOne(Connection& connection, const std::string& what) {
    std::string id;
    connection.Query(
        "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
        " AND user = '" +
            shards_.config().user + "' AND info LIKE '" + what + "' LIMIT 1",
        [&](const Row& row) { id = row.Text(1); });
    if (id.empty()) return false;
    return KillIfThere(connection, id);
  }

  RelationShards shards_;
  ShardConnections connections_{shards_.config()};
  ForwardEdges forward_{connections_, shards_.map()};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(ForwardEdgesTest, InvalidIdsAreNeverStored) {
  for (const EdgeKey& edge :
       {EdgeKey{UserId{0}, bob_}, EdgeKey{ann_, UserId{UINT64_MAX}}, EdgeKey{ann_, ann_}}) {
    ForwardChanged changed;
    EXPECT_TRUE(forward_.Change({edge.src, edge.dst, true, kNow}, &changed).never());
  }
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM following"), 0);
}

TEST_F(ForwardEdgesTest, ACounterThatGoesBelowZeroIsMarkedAndNotClamped) {
  Follow();
  shards_.of(ann_).Execute("UPDATE user_rel SET following_cnt = 0");
  EXPECT_TRUE(Unfollow(kNow + 1).below_zero);
  EXPECT_EQ(shards_.FollowingCount(ann_), -1);
  EXPECT_THAT(MarkedForRecount(shards_.of(ann_), 10),
              ElementsAre(UserCounter{ann_, Counter::kFollowed}));
  EXPECT_FALSE(Follow(kNow + 2).below_zero);
}

TEST_F(ForwardEdgesTest, ADeliveryIsChosenOfAFollowOnlyAndEndsWithIt) {
  const ForwardChanged stranger = Choose(Delivery::kNone);
  EXPECT_FALSE(stranger.changed);
  EXPECT_EQ(stranger.edge.ver, 0u);
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM following"), 0);

  const ForwardChanged made = Follow();
  const ForwardChanged muted = Choose(Delivery::kNone, kNow + 5'000'000);
  EXPECT_TRUE(muted.changed);
  Edge expected{ann_, bob_, kNow + 5'000'000, true, made.edge.pos, Delivery::kNone};
  EXPECT_EQ(muted.edge, expected);
  EXPECT_FALSE(Choose(Delivery::kNone, kNow + 6'000'000).changed);
  EXPECT_FALSE(Follow(kNow + 7'000'000).changed);
  EXPECT_EQ(Follow(kNow + 7'000'000).edge, expected) << "a follow keeps the choice";
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
  EXPECT_EQ(shards_.PendingChanges(), 2);

  EXPECT_TRUE(App(true, 1, kNow + 8'000'000).edge.delivery == Delivery::kNone);
  EXPECT_EQ(Unfollow(kNow + 9'000'000).edge.delivery, Delivery::kAll);
  EXPECT_FALSE(Choose(Delivery::kNoReposts).edge.live);
  EXPECT_EQ(Follow(kNow + 10'000'000).edge.delivery, Delivery::kAll);
  shards_.ExpectCountersMatchRows();
}

TEST_F(ForwardEdgesTest, AUsersFollowMayBringItsChoice) {
  EdgeChange change{.src = ann_, .dst = bob_, .live = true, .unix_us = kNow};
  change.delivery = Delivery::kNone;
  change.also_follows = true;
  const Edge expected{ann_, bob_, kNow, true, kNow / 1000, Delivery::kNone};
  EXPECT_EQ(Change(change).edge, expected);
  EXPECT_FALSE(Change(change).changed);
  EXPECT_EQ(shards_.PendingChanges(), 1);
  change.delivery = Delivery::kAll;
  EXPECT_TRUE(Change(change).changed);
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
  shards_.ExpectCountersMatchRows();
}

// Whoever mutes somebody says nothing of a friendship that is on its way.
TEST_F(ForwardEdgesTest, AChoiceSettlesNothing) {
  Follow();
  EXPECT_EQ(AnnounceFriendship(shards_.of(ann_), {ann_, bob_}, 7), 0u);
  EXPECT_TRUE(Choose(Delivery::kNone).changed);
  EXPECT_EQ(AnnounceFriendship(shards_.of(ann_), {ann_, bob_}, 7), 0u);
  const ForwardChanged accepted = Change({ann_, bob_, true, kNow, Origin::kFriendship, 7});
  EXPECT_FALSE(accepted.changed);
  EXPECT_EQ(accepted.edge.delivery, Delivery::kNone);
  EXPECT_TRUE(Change({ann_, bob_, false, kNow, Origin::kFriendship, 8}).changed);
}

TEST_F(ForwardEdgesTest, AnApplicationsFollowMayBringItsChoice) {
  EdgeChange change{ann_, bob_, true, kNow, Origin::kApplication, 5};
  change.delivery = Delivery::kNoReposts;
  EXPECT_EQ(Change(change).edge.delivery, Delivery::kNoReposts);
  change.origin_version = 6;
  change.delivery = Delivery::kNone;
  EXPECT_TRUE(Change(change).changed);
  change.origin_version = 4;  // late
  change.delivery = Delivery::kAll;
  EXPECT_FALSE(Change(change).changed);
  EXPECT_EQ(App(true, 7).edge.delivery, Delivery::kNone) << "an event that says nothing keeps it";
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
}

// As a procedure of another version might.
TEST_F(ForwardEdgesTest, AFollowWhoseProcedureAnswersSomethingIsMadeByTheOther) {
  MakeProcedure(shards_.of(ann_), "follow_new_edge",
                "(a BIGINT, b BIGINT, c BIGINT, d BIGINT, e BIGINT, f BIGINT) SELECT 0");
  const ForwardChanged changed = Follow();
  EXPECT_TRUE(changed.changed);
  EXPECT_EQ(changed.edge, (Edge{ann_, bob_, kNow, true, kNow / 1000}));
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
  EXPECT_EQ(shards_.PendingChanges(), 1);
}

TEST_F(ForwardEdgesTest, AFollowWithoutItsProcedureSaysWhatToType) {
  shards_.of(ann_).Execute("DROP PROCEDURE follow_new_edge");
  ForwardChanged changed;
  const Status status = forward_.Change({ann_, bob_, true, kNow}, &changed);
  EXPECT_TRUE(status.later());
  EXPECT_THAT(status.message, ::testing::HasSubstr("error 1305"));
  EXPECT_THAT(status.message, ::testing::EndsWith("; feedctl migrate makes what is missing"));
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM following"), 0);
}

// A procedure keeps the mode in which it was made.
TEST_F(ForwardEdgesTest, TheLimitHoldsAlsoIfTheProcedureWasMadeInNoStrictMode) {
  shards_.of(ann_).Execute("SET SESSION sql_mode = ''");
  shards_.of(ann_).Execute("DROP PROCEDURE follow_new_edge");
  shards_.of(ann_).Execute(std::string(sql_schema::kFollowNewEdgeSql));
  ForwardEdges forward(connections_, shards_.map(), 1);
  ForwardChanged changed;
  ASSERT_TRUE(forward.Change({ann_, bob_, true, kNow}, &changed).done());
  (void)forward.Change({ann_, UserId{100}, true, kNow}, &changed);
  EXPECT_TRUE(changed.over_limit);
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
}

// The unknown outcome: the server commits, and the connection is gone before it says so. A sleeping
// trigger would hold the answer back but also the commit, so the procedure is wrapped: what is
// called commits as ever, then waits to be killed.
TEST_F(ForwardEdgesTest, AConnectionKilledAfterTheCommitIsLookedUp) {
  const EdgeChange changes[] = {{bob_, ann_, true, kNow},
                                {bob_, ann_, false, kNow + 5, Origin::kApplication, 7}};
  ForwardChanged changed;
  ASSERT_TRUE(forward_.Change({bob_, ann_, false, kNow}, &changed).done());  // now it is connected
  HoldBackAnswers(std::string(sql_schema::kFollowNewEdgeSql), "follow_new_edge", 6);
  for (const EdgeChange& change : changes) {
    std::thread killer([&] {
      while (!KillOne(shards_.on(1), "DO SLEEP%held%")) {
      }
    });
    ASSERT_TRUE(forward_.Change(change, &changed).done());
    killer.join();
    EXPECT_FALSE(changed.changed);
    EXPECT_TRUE(changed.worth_a_check());
    EXPECT_EQ(changed.edge, (Edge{bob_, ann_, change.unix_us, change.live, kNow / 1000}));
    EXPECT_EQ(shards_.FollowingCount(bob_), change.live ? 1 : 0);
    HoldBackAnswers(std::string(sql_schema::kChangeEdgeSql), "change_edge", 9);
  }
  EXPECT_EQ(shards_.PendingChanges(), 2);
  shards_.ExpectCountersMatchRows();
}

// Killed anywhere, again and again, while eight writers go on: callers see no error but that the
// shard was away, versions only grow, rows, counters and the log agree.
TEST_F(ForwardEdgesTest, ConnectionsKilledAnywhereLeaveNothingHalfDone) {
  testing::Seeded seeded;
  std::atomic<int> writing = 8;
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, seed = seeded.Bits()] {
      std::mt19937_64 random(seed);
      ShardConnections connections(shards_.config());
      ForwardEdges forward(connections, shards_.map(), kMost);
      for (int n = 0; n < 150; ++n) {
        const EdgeChange change{ann_, UserId{100 + random() % 4}, random() % 2 == 0, kNow};
        ForwardChanged changed;
        Status status;
        do {
          status = forward.Change(change, &changed);
          EXPECT_FALSE(status.never()) << status.message;
        } while (status.later());
        EXPECT_EQ(changed.edge.ver > 0 && changed.edge.live, change.live);
      }
      --writing;
    });
  }
  int killed = 0;
  while (writing > 0 && killed < 100) killed += KillOne(shards_.on(0), "%edge_%") ? 1 : 0;
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(killed, 0);
  EXPECT_EQ(0, shards_.Total("SELECT COUNT(*) FROM following f WHERE (ver, state) <> (SELECT ver,"
                             " state FROM log1 l WHERE l.src = f.src AND l.dst = f.dst"
                             " ORDER BY ver DESC LIMIT 1)"));
  EXPECT_EQ(0, shards_.Total(kLogDoesNotAlternate));
  shards_.ExpectCountersMatchRows();
}

// A row that is made only to be locked, and then rolled back, leaves the waiters a gap lock. Two of
// them that then insert are a deadlock.
TEST_F(ForwardEdgesTest, ManyWhoUnfollowAStrangerWriteNothingAndMeetNoDeadlock) {
  const int64_t before = Deadlocks(0);
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&] {
      ShardConnections connections(shards_.config());
      ForwardEdges forward(connections, shards_.map(), kMost);
      for (int n = 0; n < 200; ++n) {
        ForwardChanged changed;
        const Status status = forward.Change({ann_, bob_, false, kNow}, &changed);
        EXPECT_TRUE(status.done()) << status.message;
        EXPECT_EQ(changed.edge.ver, 0u);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(shards_.Forward(ann_, bob_), "-");
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM user_rel"), 0);
  EXPECT_EQ(Deadlocks(0), before);
}

// The limit is the one refusal that takes a new row back.
TEST_F(ForwardEdgesTest, ManyWhoAreOverTheLimitAreAllToldSo) {
  ForwardChanged changed;
  ForwardEdges one(connections_, shards_.map(), 1);
  ASSERT_TRUE(one.Change({ann_, UserId{101}, true, kNow}, &changed).done());
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&] {
      ShardConnections connections(shards_.config());
      ForwardEdges forward(connections, shards_.map(), 1);
      for (int n = 0; n < 100; ++n) {
        ForwardChanged refused;
        const Status status = forward.Change({ann_, bob_, true, kNow}, &refused);
        EXPECT_TRUE(status.never()) << status.message;
        EXPECT_TRUE(refused.over_limit);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(shards_.Forward(ann_, bob_), "-");
  shards_.ExpectCountersMatchRows();
}

class ChangesOfAnHourTest : public ForwardEdgesTest {
 protected:
  static constexpr int64_t kPartUs = 3'600'000'000 / 416;  // of a user who may follow 5,000

  // Leaves `user`, who has changed something, room for so many changes.
  void LeaveRoom(UserId user, int64_t changes) {
    shards_.of(user).Execute("UPDATE user_rel SET changes_until = UNIX_TIMESTAMP() * 1000000 + " +
                             std::to_string(3'600'000'000 - changes * kPartUs) +
                             " WHERE user_id = " + ToString(user));
  }
  // An hour's part of one change passes for everybody.
  void PassPart() {
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      shards_.on(shard).Execute("UPDATE user_rel SET changes_until = changes_until - " +
                                std::to_string(kPartUs));
    }
  }
  void ExpectRefused(const EdgeChange& change) {
    ForwardChanged changed;
    const Status status = forward_.Change(change, &changed);
    EXPECT_TRUE(status.never());
    EXPECT_EQ(status.message, "has made all 416 changes of an hour");
    EXPECT_FALSE(changed.changed || changed.over_limit);
    ASSERT_TRUE(changed.again_in);
    EXPECT_GE(changed.again_in->count(), 1);
    EXPECT_LE(changed.again_in->count(), 9);
  }
};

TEST_F(ChangesOfAnHourTest, AreAsManyAsSaidWhetherTheyMakeOrEndAnEdge) {
  for (uint64_t made = 0; made < ChangesAnHour(kMostFollowed); ++made) {
    const bool follow = made % 3 < 2;
    EXPECT_TRUE(Change({ann_, UserId{1'000 + made - (follow ? 0 : 1)}, follow, kNow}).changed);
  }
  PassPart();  // while they were made some may have
  EXPECT_TRUE(Follow().changed);
  LeaveRoom(ann_, 0);
  ExpectRefused({ann_, UserId{101}, true, kNow});
  ExpectRefused({ann_, bob_, false, kNow});
  shards_.ExpectCountersMatchRows();
}

TEST_F(ChangesOfAnHourTest, ComeBackOneByOneAsTheHourPasses) {
  Follow();
  LeaveRoom(ann_, 2);
  EXPECT_TRUE(Change({ann_, UserId{101}, true, kNow}).changed);
  EXPECT_TRUE(Unfollow().changed);
  for (int i = 0; i < 2; ++i) {
    ExpectRefused({ann_, UserId{102}, true, kNow});
    ExpectRefused({ann_, bob_, true, kNow});
    ExpectRefused({ann_, UserId{101}, false, kNow});
  }
  EXPECT_EQ(shards_.PendingChanges(), 3);
  EXPECT_EQ(shards_.Forward(ann_, UserId{102}), "-");
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
  PassPart();
  EXPECT_TRUE(Follow().changed);
  ExpectRefused({ann_, UserId{102}, true, kNow});
  PassPart();
  EXPECT_TRUE(Change({ann_, UserId{102}, true, kNow}).changed);
  shards_.ExpectCountersMatchRows();
}

// A primary's clock was a day ahead, and is set right.
TEST_F(ChangesOfAnHourTest, ReachAnHourAheadAtMostWhateverTheClockWas) {
  Follow();
  const auto day_ahead = [&] {
    shards_.of(ann_).Execute("UPDATE user_rel SET changes_until = changes_until + 86400000000");
  };
  const auto expect_full = [&] {
    ExpectRefused({ann_, UserId{102}, true, kNow});
    ExpectRefused({ann_, bob_, false, kNow});
    EXPECT_GE(TakeChange(shards_.of(ann_), ann_, kMostFollowed), std::chrono::seconds(1));
    PassPart();
  };
  day_ahead();
  EXPECT_TRUE(Change({ann_, UserId{101}, true, kNow}).changed);
  expect_full();
  day_ahead();
  EXPECT_TRUE(Change({ann_, UserId{101}, false, kNow}).changed);
  expect_full();
  day_ahead();
  EXPECT_EQ(TakeChange(shards_.of(ann_), ann_, kMostFollowed), std::nullopt);
  expect_full();
  EXPECT_TRUE(Unfollow().changed);
  shards_.ExpectCountersMatchRows();
}

TEST_F(ChangesOfAnHourTest, AreNotTakenByWhatIsSoAlreadyNorByOthersThanTheUser) {
  const auto made = Follow();
  LeaveRoom(ann_, 0);
  EXPECT_FALSE(Follow().changed);
  EXPECT_FALSE(Choose(Delivery::kAll).changed);
  EXPECT_FALSE(Change({ann_, UserId{101}, false, kNow}).changed);
  EXPECT_TRUE(Change({bob_, ann_, true, kNow}).changed);
  EXPECT_TRUE(App(false, 5).changed);
  EXPECT_TRUE(Change({ann_, bob_, true, kNow, Origin::kFriendship, 1}).changed);
  EXPECT_TRUE(AdoptForward(shards_.of(ann_), {ann_, bob_, made.edge.ver + 9, false, 1}).changed);
  PassPart();
  EXPECT_TRUE(Follow().changed);
  ExpectRefused({ann_, UserId{101}, true, kNow});
  shards_.ExpectCountersMatchRows();
}

// follow_new_edge, change_edge and what is told of them know the same part of an hour.
TEST_F(ChangesOfAnHourTest, DependOnHowManyMayBeFollowed) {
  UserId dst{100};
  for (const uint32_t most : {2u, 4'811u, 5'000u, 60'000u, 1'000'000u}) {
    ForwardEdges forward(connections_, shards_.map(), most);
    shards_.of(ann_).Execute("DELETE FROM user_rel");
    const auto expect_taken = [&](int64_t changes) {
      const int64_t part = 3'600'000'000 / ChangesAnHour(most);
      const int64_t ahead = shards_.Number(
          0, "SELECT changes_until - UNIX_TIMESTAMP() * 1000000 FROM user_rel WHERE user_id = " +
                 ToString(ann_));
      EXPECT_LE(ahead, changes * part) << most;
      EXPECT_GT(ahead, changes * part - 30'000'000) << most;
    };
    dst = UserId{Raw(dst) + 1};
    ForwardChanged changed;
    ASSERT_TRUE(forward.Change({ann_, dst, true, kNow}, &changed).done());
    expect_taken(1);
    ASSERT_TRUE(forward.Change({ann_, dst, false, kNow}, &changed).done());
    expect_taken(2);
    ASSERT_TRUE(forward.Change({ann_, UserId{Raw(dst) + 1'000}, true, kNow}, &changed).done());
    expect_taken(3);
    EXPECT_FALSE(TakeChange(shards_.of(ann_), ann_, most));
    expect_taken(4);
  }
}

TEST_F(ChangesOfAnHourTest, AreTakenByAChoiceToo) {
  Follow();
  LeaveRoom(ann_, 1);
  EXPECT_TRUE(Choose(Delivery::kNone).changed);
  EdgeChange change{ann_, bob_, true, kNow};
  change.delivery = Delivery::kAll;
  ExpectRefused(change);
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
}

TEST_F(ChangesOfAnHourTest, AreTakenOnceByAFollowWithItsChoice) {
  Follow();
  Unfollow();
  LeaveRoom(ann_, 1);
  EdgeChange change{.src = ann_, .dst = bob_, .live = true, .unix_us = kNow};
  change.delivery = Delivery::kNone;
  change.also_follows = true;
  const ForwardChanged made = Change(change);
  EXPECT_TRUE(made.changed && made.edge.live);
  EXPECT_EQ(made.edge.delivery, Delivery::kNone);
  EXPECT_FALSE(Change(change).changed);
  change.delivery = Delivery::kAll;
  ExpectRefused(change);
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
}

TEST_F(ChangesOfAnHourTest, WhatAnnouncedIsSettledThoughNoneIsLeft) {
  Follow();
  EXPECT_EQ(AnnounceFriendship(shards_.of(ann_), {ann_, bob_}, 7), 0u);
  LeaveRoom(ann_, 0);
  EXPECT_FALSE(Follow().changed);
  EXPECT_EQ(AnnounceFriendship(shards_.of(ann_), {ann_, bob_}, 7), 7u);
}

// A row that is made and taken back would leave gap locks to those who wait.
TEST_F(ChangesOfAnHourTest, ManyWhoHaveNoneLeftAreAllToldSo) {
  Follow();
  LeaveRoom(ann_, 0);
  const int64_t before = Deadlocks(0);
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&] {
      ShardConnections connections(shards_.config());
      ForwardEdges forward(connections, shards_.map());
      for (int n = 0; n < 25; ++n) {  // ends before a change's part of the hour has passed
        ForwardChanged refused;
        EXPECT_TRUE(forward.Change({ann_, UserId{101}, true, kNow}, &refused).never());
        EXPECT_TRUE(refused.again_in);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(shards_.Forward(ann_, UserId{101}), "-");
  EXPECT_EQ(Deadlocks(0), before);
  shards_.ExpectCountersMatchRows();
}

// A row taken back would leave gap locks to those who wait for it.
TEST_F(ForwardEdgesTest, AFollowOverTheLimitMakesNoRowThatIsTakenBack) {
  Follow();
  Connection& connection = shards_.of(ann_);
  const auto written = [&connection] {
    return Counted(connection, "SESSION STATUS LIKE 'Handler_write'");
  };
  const int64_t first = written(), second = written();  // a look writes, too
  connection.Call("CALL change_edge(" + ToString(ann_) + ", 4711, 1, -1, 1, 1, 0, 0, 1)",
                  [](const Row& row) { EXPECT_EQ(row.UInt64(1), 2u) << "it is over the limit"; });
  EXPECT_EQ(written() - second, second - first);
}

// Eight writers on six edges: versions of an edge only grow, no change is lost, nobody is told of
// an error.
TEST_F(ForwardEdgesTest, ManyWritersOfAFewEdgesLoseNothing) {
  testing::Seeded seeded;
  std::vector<std::thread> writers;
  std::atomic<uint64_t> changes = 0;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, seed = seeded.Bits()] {
      std::mt19937_64 random(seed);
      ShardConnections connections(shards_.config());
      ForwardEdges forward(connections, shards_.map(), kMost);
      for (int n = 0; n < 200; ++n) {
        const EdgeChange change{UserId{1 + random() % 2}, UserId{100 + random() % 3},
                                random() % 2 == 0, kNow + random() % 1'000};
        ForwardChanged changed;
        const Status status = forward.Change(change, &changed);
        EXPECT_TRUE(status.done()) << status.message;
        EXPECT_FALSE(changed.below_zero);
        changes += changed.changed ? 1 : 0;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(changes, 100u);
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM log1"), changes);
  EXPECT_EQ(0, shards_.Total(kLogDoesNotAlternate));
  EXPECT_EQ(0, shards_.Total("SELECT COUNT(*) FROM following f WHERE (ver, state) <> (SELECT ver,"
                             " state FROM log1 l WHERE l.src = f.src AND l.dst = f.dst"
                             " ORDER BY ver DESC LIMIT 1)"));
  shards_.ExpectCountersMatchRows();
}

}  // namespace
}  // namespace fanline::mysql
