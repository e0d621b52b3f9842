// Forward and reverse rows of a follow and an unfollow, on two real shards.
#include "tests/integration/mysql/relations.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/integration/mysql/relation_shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

constexpr uint64_t kNow = 1'700'000'000'000'000;

class RelationsTest : public ::testing::Test {
 protected:
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
  RelationShards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(RelationsTest, AFollowWritesBothRowsAndBothCounters) {
  const auto result = Follow(ann_, bob_);
  EXPECT_TRUE(result.changed);
  EXPECT_EQ(result.version, kNow);
  EXPECT_EQ(shards_.Forward(ann_, bob_), "1700000000000000 1 1700000000000");
  EXPECT_EQ(shards_.Reverse(ann_, bob_), shards_.Forward(ann_, bob_));
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
  EXPECT_EQ(shards_.FansCount(bob_), 1);
  shards_.ExpectConsistent();
}

TEST_F(RelationsTest, FollowingTwiceIsFollowingOnce) {
  const auto first = Follow(ann_, bob_);
  const auto second = Follow(ann_, bob_, kNow + 5);
  EXPECT_FALSE(second.changed);
  EXPECT_EQ(second.version, first.version);
  EXPECT_EQ(shards_.FansCount(bob_), 1);
  shards_.ExpectConsistent();
}

TEST_F(RelationsTest, UnfollowingAStrangerLeavesNoRow) {
  const auto result = Unfollow(ann_, bob_);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.version, 0u);
  EXPECT_EQ(shards_.Forward(ann_, bob_), "-");
  EXPECT_EQ(shards_.Reverse(ann_, bob_), "-");
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM user_rel"), 0);
}

TEST_F(RelationsTest, AnUnfollowLeavesTombstonesAndAFollowBringsTheEdgeBack) {
  Follow(ann_, bob_);
  const auto gone = Unfollow(ann_, bob_, kNow + 10);
  EXPECT_TRUE(gone.changed);
  EXPECT_EQ(shards_.Forward(ann_, bob_), "1700000000000010 0 1700000000000");
  EXPECT_EQ(shards_.FollowingCount(ann_), 0);
  EXPECT_EQ(shards_.FansCount(bob_), 0);
  shards_.ExpectConsistent();
  const auto back = Follow(ann_, bob_, kNow + 5'000);
  EXPECT_EQ(back.version, kNow + 5'000);
  EXPECT_EQ(shards_.Reverse(ann_, bob_), "1700000000005000 1 1700000000005");
  EXPECT_EQ(shards_.FansCount(bob_), 1);
}

TEST_F(RelationsTest, AClockThatGoesBackStillGivesAHigherVersion) {
  const auto first = Follow(ann_, bob_, kNow);
  const auto second = Unfollow(ann_, bob_, kNow - 1'000'000);
  EXPECT_EQ(second.version, first.version + 1);
  shards_.ExpectConsistent();
}

TEST_F(RelationsTest, ANoOpHealsAReverseRowThatWasNeverWritten) {
  Follow(ann_, bob_);
  shards_.of(bob_).Execute("DELETE FROM follower");
  shards_.of(bob_).Execute("DELETE FROM user_fan");
  EXPECT_FALSE(Follow(ann_, bob_).changed);
  shards_.ExpectConsistent();
  EXPECT_EQ(shards_.FansCount(bob_), 1);
  Unfollow(ann_, bob_, kNow + 1);
  shards_.of(bob_).Execute("UPDATE follower SET ver = ver - 1, state = 1");
  shards_.of(bob_).Execute("UPDATE user_fan SET fans_cnt = 1");
  EXPECT_FALSE(Unfollow(ann_, bob_, kNow + 2).changed);
  shards_.ExpectConsistent();
  EXPECT_EQ(shards_.FansCount(bob_), 0);
}

TEST_F(RelationsTest, InvalidIdsAreNeverStored) {
  Relations::Result result;
  EXPECT_TRUE(relations_.Follow(UserId{0}, bob_, kNow, &result).never());
  EXPECT_TRUE(relations_.Follow(ann_, UserId{UINT64_MAX}, kNow, &result).never());
  EXPECT_TRUE(relations_.Follow(ann_, ann_, kNow, &result).never());
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
  EXPECT_EQ(shards_.Reverse(ann_, bob_), "-");
  EXPECT_FALSE(Follow(ann_, bob_, kNow + 1).changed);
  shards_.ExpectConsistent();
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
  shards_.ExpectConsistent();
}

}  // namespace
}  // namespace fanline::mysql
