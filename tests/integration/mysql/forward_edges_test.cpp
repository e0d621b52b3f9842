// Changes of forward edges: versions, counters, the log and the limit, on two real shards.
#include "backends/mysql/forward_edges.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/integration/mysql/relation_shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

constexpr uint64_t kNow = 1'700'000'000'000'000;

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
  ForwardChanged App(bool live, uint64_t version, uint64_t now = kNow) {
    return Change({ann_, bob_, live, now, Origin::kApplication, version});
  }
  // Rows of log1 as "src dst ver state pos", by id.
  std::vector<std::string> Log() {
    std::vector<std::string> rows;
    shards_.of(ann_).Query("SELECT CONCAT_WS(' ', src, dst, ver, state, pos) FROM log1 ORDER BY id",
                           [&](const Row& row) { rows.push_back(row.Text(1)); });
    return rows;
  }
  std::string Logged(const ForwardChanged& change) const {
    const Edge& edge = change.edge;
    return ToString(edge.src) + " " + ToString(edge.dst) + " " + std::to_string(edge.ver) + " " +
           (edge.live ? "1" : "0") + " " + std::to_string(edge.pos);
  }

  RelationShards shards_;
  ShardConnections connections_{shards_.config()};
  ForwardEdges forward_{connections_, shards_.map()};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(ForwardEdgesTest, EveryChangeLeavesItsRowItsCounterAndOneRowOfTheLog) {
  const auto made = Follow();
  EXPECT_EQ(made.edge, (Edge{ann_, bob_, kNow, true, kNow / 1000}));
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
  const auto gone = Unfollow(kNow + 10);
  EXPECT_EQ(gone.edge, (Edge{ann_, bob_, kNow + 10, false, kNow / 1000}));
  EXPECT_EQ(shards_.FollowingCount(ann_), 0);
  const auto back = Follow(kNow + 5'000);
  EXPECT_EQ(back.edge, (Edge{ann_, bob_, kNow + 5'000, true, kNow / 1000 + 5}));
  EXPECT_TRUE(made.changed && gone.changed && back.changed);
  EXPECT_EQ(Log(), (std::vector{Logged(made), Logged(gone), Logged(back)}));
  EXPECT_EQ(shards_.Forward(ann_, bob_), "1700000000005000 1 1700000000005");
  EXPECT_EQ(shards_.Reverse(ann_, bob_), "-");
  shards_.ExpectCountersMatchRows();
}

TEST_F(ForwardEdgesTest, ANoOpWritesNothingAndAnExistingRowIsWorthACheck) {
  EXPECT_FALSE(Unfollow().worth_a_check());
  EXPECT_EQ(shards_.Forward(ann_, bob_), "-");
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM user_rel"), 0);
  const auto made = Follow();
  const auto again = Follow(kNow + 7);
  EXPECT_FALSE(again.changed);
  EXPECT_EQ(again.edge, made.edge);
  EXPECT_TRUE(again.worth_a_check());
  const auto gone = Unfollow(kNow + 9);
  EXPECT_EQ(Unfollow(kNow + 11).edge, gone.edge);
  EXPECT_EQ(Log().size(), 2u);
}

TEST_F(ForwardEdgesTest, AClockThatGoesBackStillGivesAHigherVersion) {
  const auto first = Follow(kNow);
  const auto second = Unfollow(kNow - 1'000'000);
  EXPECT_EQ(second.edge.ver, first.edge.ver + 1);
  const auto third = Follow(kNow - 1'000'000);
  EXPECT_EQ(third.edge.ver, first.edge.ver + 2);
  EXPECT_EQ(Log().back(), Logged(third));
}

TEST_F(ForwardEdgesTest, OneMoreThanTheLimitIsRefusedByNameAndLeavesNothing) {
  ForwardEdges few(connections_, shards_.map(), 2);
  ForwardChanged changed;
  ASSERT_TRUE(few.Change({ann_, UserId{101}, true, kNow}, &changed).done());
  ASSERT_TRUE(few.Change({ann_, UserId{102}, true, kNow}, &changed).done());
  const Status refused = few.Change({ann_, UserId{103}, true, kNow}, &changed);
  EXPECT_TRUE(refused.never());
  EXPECT_EQ(refused.message, "follows 2 already");
  EXPECT_TRUE(changed.over_limit);
  EXPECT_EQ(shards_.Forward(ann_, UserId{103}), "-");
  EXPECT_EQ(Log().size(), 2u);
  // One who is followed already is no more; who makes room may follow; a friend is never refused.
  EXPECT_TRUE(few.Change({ann_, UserId{102}, true, kNow}, &changed).done());
  EXPECT_TRUE(few.Change({ann_, UserId{101}, false, kNow}, &changed).done());
  EXPECT_TRUE(few.Change({ann_, UserId{103}, true, kNow}, &changed).done());
  EXPECT_TRUE(few.Change({ann_, UserId{104}, true, kNow, Origin::kFriendship, 1}, &changed).done());
  EXPECT_EQ(shards_.FollowingCount(ann_), 3);
  shards_.ExpectCountersMatchRows();
}

TEST_F(ForwardEdgesTest, ACounterThatWouldGoBelowZeroSaysSoAndIsNotClamped) {
  Follow();
  shards_.of(ann_).Execute("UPDATE user_rel SET following_cnt = 0");
  EXPECT_TRUE(Unfollow(kNow + 1).below_zero);
  EXPECT_EQ(shards_.FollowingCount(ann_), -1);
  EXPECT_FALSE(Follow(kNow + 2).below_zero);
}

TEST_F(ForwardEdgesTest, AnApplicationsChangeCountsOnceHoweverOftenAndLateItArrives) {
  EXPECT_TRUE(App(true, 5).changed);
  EXPECT_FALSE(App(true, 5, kNow + 1).changed);
  EXPECT_FALSE(App(false, 4, kNow + 2).changed);
  EXPECT_TRUE(App(false, 6, kNow + 3).changed);
  EXPECT_FALSE(App(true, 5, kNow + 4).changed);
  EXPECT_EQ(shards_.Forward(ann_, bob_), "1700000000000003 0 1700000000000");
  EXPECT_EQ(Log().size(), 2u);
  shards_.ExpectCountersMatchRows();
}

TEST_F(ForwardEdgesTest, AnApplicationsChangeThatIsSoAlreadyStillOutlivesOlderOnes) {
  Follow();
  EXPECT_FALSE(App(true, 9).changed);
  EXPECT_FALSE(App(false, 8, kNow + 1).changed);
  EXPECT_EQ(shards_.Forward(ann_, bob_), "1700000000000000 1 1700000000000");
  EXPECT_EQ(Log().size(), 1u);
}

TEST_F(ForwardEdgesTest, AnApplicationsUnfollowOfAStrangerStaysSoWhenTheFollowArrivesLate) {
  const auto tombstone = App(false, 9);
  EXPECT_TRUE(tombstone.changed);
  EXPECT_EQ(Log(), std::vector{Logged(tombstone)});
  EXPECT_FALSE(App(true, 8, kNow + 1).changed);
  EXPECT_EQ(shards_.Forward(ann_, bob_), "1700000000000000 0 0");
  EXPECT_EQ(shards_.FollowingCount(ann_), 0);
  EXPECT_TRUE(Follow(kNow + 2).changed);
  shards_.ExpectCountersMatchRows();
}

TEST_F(ForwardEdgesTest, TheVersionsOfDifferentOriginsDoNotMeet) {
  EXPECT_TRUE(App(true, 1'000).changed);
  EXPECT_TRUE(Change({ann_, bob_, false, kNow, Origin::kFriendship, 1}).changed);
  EXPECT_FALSE(App(true, 1'000).changed);
  EXPECT_TRUE(App(true, 1'001).changed);
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
      ForwardEdges forward(connections, shards_.map());
      for (int n = 0; n < 200; ++n) {
        const EdgeChange change{UserId{1 + random() % 2}, UserId{10 + random() % 3},
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
  // Commits of one edge are serial, so its rows of the log alternate, with growing versions.
  EXPECT_EQ(0, shards_.Total("SELECT COUNT(*) FROM (SELECT ver, state,"
                             " LAG(ver) OVER edge AS ver_before, LAG(state) OVER edge AS before_it"
                             " FROM log1 WINDOW edge AS (PARTITION BY src, dst ORDER BY id)) AS l"
                             " WHERE ver <= ver_before OR state = before_it"));
  EXPECT_EQ(0, shards_.Total("SELECT COUNT(*) FROM following f WHERE (ver, state) <> (SELECT ver,"
                             " state FROM log1 l WHERE l.src = f.src AND l.dst = f.dst"
                             " ORDER BY ver DESC LIMIT 1)"));
  shards_.ExpectCountersMatchRows();
}

}  // namespace
}  // namespace fanline::mysql
