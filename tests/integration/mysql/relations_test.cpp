// Follow and unfollow on two real shards.
#include "backends/mysql/relations.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/integration/mysql/shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

constexpr uint64_t kNow = 1'700'000'000'000'000;

class RelationsTest : public ::testing::Test {
 protected:
  // Rows of one edge as "ver state pos", "-" for none.
  std::string Forward(UserId src, UserId dst) {
    return RowOf(src, "following WHERE src = " + ToString(src) + " AND dst = " + ToString(dst));
  }
  std::string Reverse(UserId src, UserId dst) {
    return RowOf(dst, "follower WHERE src = " + ToString(src) + " AND dst = " + ToString(dst));
  }
  std::string RowOf(UserId owner, const std::string& where) {
    std::string text = "-";
    shards_.of(owner).Query("SELECT ver, state, pos FROM " + where, [&](const Row& row) {
      text = row.Text(1) + " " + row.Text(2) + " " + row.Text(3);
    });
    return text;
  }
  int64_t FollowingCount(UserId user) {
    return shards_.Number(shards_.map().ShardOf(user),
                          "SELECT following_cnt FROM user_rel WHERE user_id = " + ToString(user));
  }
  int64_t FansCount(UserId user) {
    return shards_.Number(shards_.map().ShardOf(user),
                          "SELECT fans_cnt FROM user_fan WHERE user_id = " + ToString(user));
  }
  Relations::Result Follow(UserId src, UserId dst, uint64_t now = kNow) {
    Relations::Result result;
    const Status status = relations_.Follow(src, dst, now, &result);
    EXPECT_TRUE(status.done()) << status.message;
    return result;
  }
  Relations::Result Unfollow(UserId src, UserId dst, uint64_t now = kNow) {
    Relations::Result result;
    const Status status = relations_.Unfollow(src, dst, now, &result);
    EXPECT_TRUE(status.done()) << status.message;
    return result;
  }
  // Forward and reverse rows, and all counters, say the same.
  void ExpectConsistent() {
    std::multiset<std::string> forward, reverse;
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      shards_.on(shard).Query("SELECT CONCAT_WS(' ', src, dst, ver, state, pos) FROM following",
                              [&](const Row& row) { forward.insert(row.Text(1)); });
      shards_.on(shard).Query("SELECT CONCAT_WS(' ', src, dst, ver, state, pos) FROM follower",
                              [&](const Row& row) { reverse.insert(row.Text(1)); });
      EXPECT_EQ(0, shards_.Number(shard,
                                  "SELECT COUNT(*) FROM user_rel r WHERE following_cnt <>"
                                  " (SELECT COUNT(*) FROM following f WHERE f.src = r.user_id"
                                  " AND f.state = 1)"));
      EXPECT_EQ(0, shards_.Number(shard,
                                  "SELECT COUNT(*) FROM user_fan r WHERE fans_cnt <>"
                                  " (SELECT COUNT(*) FROM follower f WHERE f.dst = r.user_id"
                                  " AND f.state = 1)"));
    }
    EXPECT_EQ(forward, reverse);
    EXPECT_EQ(shards_.Total("SELECT COALESCE(SUM(following_cnt), 0) FROM user_rel"),
              shards_.Total("SELECT COUNT(*) FROM following WHERE state = 1"));
  }

  Shards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(RelationsTest, AFollowWritesBothRowsAndBothCounters) {
  const auto result = Follow(ann_, bob_);
  EXPECT_TRUE(result.changed);
  EXPECT_EQ(result.version, kNow);
  EXPECT_EQ(Forward(ann_, bob_), "1700000000000000 1 1700000000000");
  EXPECT_EQ(Reverse(ann_, bob_), Forward(ann_, bob_));
  EXPECT_EQ(FollowingCount(ann_), 1);
  EXPECT_EQ(FansCount(bob_), 1);
  ExpectConsistent();
}

TEST_F(RelationsTest, FollowingTwiceIsFollowingOnce) {
  const auto first = Follow(ann_, bob_);
  const auto second = Follow(ann_, bob_, kNow + 5);
  EXPECT_FALSE(second.changed);
  EXPECT_EQ(second.version, first.version);
  EXPECT_EQ(FansCount(bob_), 1);
  ExpectConsistent();
}

TEST_F(RelationsTest, UnfollowingAStrangerLeavesNoRow) {
  const auto result = Unfollow(ann_, bob_);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.version, 0u);
  EXPECT_EQ(Forward(ann_, bob_), "-");
  EXPECT_EQ(Reverse(ann_, bob_), "-");
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM user_rel"), 0);
}

TEST_F(RelationsTest, AnUnfollowLeavesTombstonesAndAFollowBringsTheEdgeBack) {
  Follow(ann_, bob_);
  const auto gone = Unfollow(ann_, bob_, kNow + 10);
  EXPECT_TRUE(gone.changed);
  EXPECT_EQ(Forward(ann_, bob_), "1700000000000010 0 1700000000000");
  EXPECT_EQ(FollowingCount(ann_), 0);
  EXPECT_EQ(FansCount(bob_), 0);
  ExpectConsistent();
  const auto back = Follow(ann_, bob_, kNow + 5'000);
  EXPECT_EQ(back.version, kNow + 5'000);
  EXPECT_EQ(Reverse(ann_, bob_), "1700000000005000 1 1700000000005");
  EXPECT_EQ(FansCount(bob_), 1);
}

TEST_F(RelationsTest, AClockThatGoesBackStillGivesAHigherVersion) {
  const auto first = Follow(ann_, bob_, kNow);
  const auto second = Unfollow(ann_, bob_, kNow - 1'000'000);
  EXPECT_EQ(second.version, first.version + 1);
  ExpectConsistent();
}

TEST_F(RelationsTest, ANoOpHealsAReverseRowThatWasNeverWritten) {
  Follow(ann_, bob_);
  shards_.of(bob_).Execute("DELETE FROM follower");
  shards_.of(bob_).Execute("DELETE FROM user_fan");
  EXPECT_FALSE(Follow(ann_, bob_).changed);
  ExpectConsistent();
  EXPECT_EQ(FansCount(bob_), 1);
  Unfollow(ann_, bob_, kNow + 1);
  shards_.of(bob_).Execute("UPDATE follower SET ver = ver - 1, state = 1");
  shards_.of(bob_).Execute("UPDATE user_fan SET fans_cnt = 1");
  EXPECT_FALSE(Unfollow(ann_, bob_, kNow + 2).changed);
  ExpectConsistent();
  EXPECT_EQ(FansCount(bob_), 0);
}

TEST_F(RelationsTest, AnOldVersionNeverOverwritesANewerReverseRow) {
  Follow(ann_, bob_);
  Unfollow(ann_, bob_, kNow + 10);
  const Edge old{.src = ann_, .dst = bob_, .ver = kNow, .live = true, .pos = 1};
  ASSERT_TRUE(relations_.ApplyToReverse(old).done());
  ExpectConsistent();
  EXPECT_EQ(FansCount(bob_), 0);
}

TEST_F(RelationsTest, VersionsThatSkipAStateCountOnlyTheTransition) {
  Follow(ann_, bob_);
  const Edge later{.src = ann_, .dst = bob_, .ver = kNow + 7, .live = true, .pos = 9};
  ASSERT_TRUE(relations_.ApplyToReverse(later).done());
  EXPECT_EQ(FansCount(bob_), 1);
  EXPECT_EQ(Reverse(ann_, bob_), "1700000000000007 1 9");
}

TEST_F(RelationsTest, InvalidIdsAreNeverStored) {
  Relations::Result result;
  EXPECT_TRUE(relations_.Follow(UserId{0}, bob_, kNow, &result).never());
  EXPECT_TRUE(relations_.Follow(ann_, UserId{UINT64_MAX}, kNow, &result).never());
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM following"), 0);
}

TEST_F(RelationsTest, AReverseShardThatIsAwayIsNamedAndTheNextTryCompletes) {
  Config broken = shards_.config();
  broken.shards[1].port = 1;
  Relations cut(broken, shards_.map());
  Relations::Result result;
  const Status status = cut.Follow(ann_, bob_, kNow, &result);
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
  EXPECT_EQ(Reverse(ann_, bob_), "-");
  EXPECT_FALSE(Follow(ann_, bob_, kNow + 1).changed);
  ExpectConsistent();
}

TEST_F(RelationsTest, ManyWritersOfAFewEdgesNeverFailAndLeaveEverythingConsistent) {
  testing::Seeded seeded;
  std::vector<uint64_t> seeds;
  for (int i = 0; i < 6; ++i) seeds.push_back(seeded.Bits());
  std::vector<std::thread> writers;
  for (const uint64_t seed : seeds) {
    writers.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      Relations relations(shards_.config(), shards_.map());
      for (uint64_t i = 0; i < 150; ++i) {
        const UserId src{1 + random() % 4}, dst{10 + random() % 4};
        Relations::Result result;
        const Status status = random() % 2 == 0
                                  ? relations.Follow(src, dst, kNow + random() % 1000, &result)
                                  : relations.Unfollow(src, dst, kNow + random() % 1000, &result);
        EXPECT_TRUE(status.done()) << status.message;
      }
    });
  }
  for (auto& writer : writers) writer.join();
  ExpectConsistent();
}

}  // namespace
}  // namespace fanline::mysql
