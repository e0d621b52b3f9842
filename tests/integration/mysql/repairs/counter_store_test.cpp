// Counters known to be wrong, read and repaired through a reconciler's port.
#include "backends/mysql/repairs/counter_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/repairs/counter_repair.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class CounterStoreTest : public ::testing::Test {
 protected:
  std::vector<UserCounter> Marked(Shard shard, uint32_t limit = 100) {
    const MarkedRead read = Ask(store_, ReadMarked{0, shard, limit});
    EXPECT_TRUE(read.status.done()) << read.status.message;
    return read.counters;
  }
  CounterRepaired Repair(const UserCounter& counter) {
    CounterRepaired repaired =
        Ask(store_, RepairCounter{0, shards_.map().ShardOf(counter.user), counter});
    EXPECT_TRUE(repaired.status.done()) << repaired.status.message;
    return repaired;
  }

  CountersSwept Sweep(Shard shard, std::chrono::seconds every = std::chrono::hours(24)) {
    const CountersSwept swept = Ask(store_, SweepCounters{0, shard, every});
    EXPECT_TRUE(swept.status.done()) << swept.status.message;
    return swept;
  }

  RelationShards shards_;
  MysqlCounterStore store_{shards_.config(), HealthSink(), kNoLog, {shards_.map()}};
  Relations relations_{shards_.config(), shards_.map()};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(CounterStoreTest, WhatFellBelowZeroIsMarkedRepairedOnceAndNoLongerMarked) {
  Relations::Result result;
  ASSERT_TRUE(relations_.Follow(ann_, bob_, 1'000'000, &result).done());
  shards_.of(ann_).Execute("UPDATE user_rel SET following_cnt = 0");
  shards_.of(bob_).Execute("UPDATE user_fan SET fans_cnt = -4");
  ASSERT_TRUE(relations_.Unfollow(ann_, bob_, 2'000'000, &result).done());

  const UserCounter followed{ann_, Counter::kFollowed}, followers{bob_, Counter::kFollowers};
  EXPECT_THAT(Marked(0), ElementsAre(followed));
  EXPECT_THAT(Marked(1), ElementsAre(followers));
  EXPECT_EQ(Repair(followed).drift, 1);
  const CounterRepaired repaired = Repair(followers);
  EXPECT_TRUE(repaired.repaired);
  EXPECT_EQ(repaired.drift, 5);
  EXPECT_FALSE(Repair(followers).repaired);
  EXPECT_THAT(Marked(0), IsEmpty());
  EXPECT_THAT(Marked(1), IsEmpty());
  shards_.ExpectConsistent();
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM repair_log WHERE net = 'counter'"), 2);
}

TEST_F(CounterStoreTest, AMarkOfACounterThatIsRightIsTakenAway) {
  MarkForRecount(shards_.of(bob_), Counter::kFollowers, {{bob_}});
  MarkForRecount(shards_.of(bob_), Counter::kFollowers, {{bob_}});
  EXPECT_FALSE(Repair({bob_, Counter::kFollowers}).repaired);
  EXPECT_THAT(Marked(1), IsEmpty());
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM user_fan"), 0);
}

TEST_F(CounterStoreTest, BothCountersOfAUserAreMarkedApartAndTheLimitHolds) {
  MarkForRecount(shards_.of(ann_), Counter::kFollowed, {{ann_}});
  MarkForRecount(shards_.of(ann_), Counter::kFollowers, {{ann_}});
  EXPECT_THAT(Marked(0), UnorderedElementsAre(UserCounter{ann_, Counter::kFollowed},
                                              UserCounter{ann_, Counter::kFollowers}));
  EXPECT_EQ(Marked(0, 1).size(), 1u);
}

// Nobody marks a counter that drifted upwards: at the limit its user may follow nobody any more.
TEST_F(CounterStoreTest, ASweepFindsWhatDriftedUpwardsAndWhatHasNoRowWhereverItStands) {
  Relations::Result result;
  ASSERT_TRUE(relations_.Follow(ann_, bob_, 1'000'000, &result).done());
  shards_.of(ann_).Execute("UPDATE user_rel SET following_cnt = 1000000");
  shards_.of(bob_).Execute("DELETE FROM user_fan");
  EXPECT_TRUE(relations_.Follow(ann_, shards_.UserOn(1, 2), 1'500'000, &result).never());
  const CountersSwept swept = Sweep(0);
  EXPECT_EQ(swept.users, 1u);
  EXPECT_EQ(swept.marked, 1u);
  EXPECT_TRUE(swept.over);
  EXPECT_EQ(Sweep(1).marked, 1u);
  EXPECT_THAT(Marked(0), ElementsAre(UserCounter{ann_, Counter::kFollowed}));
  EXPECT_THAT(Marked(1), ElementsAre(UserCounter{bob_, Counter::kFollowers}));
  EXPECT_EQ(Repair({ann_, Counter::kFollowed}).drift, -999999);
  EXPECT_EQ(Repair({bob_, Counter::kFollowers}).drift, 1);
  EXPECT_TRUE(relations_.Follow(ann_, shards_.UserOn(1, 2), 2'000'000, &result).done());
  shards_.ExpectConsistent();
}

TEST_F(CounterStoreTest, ASweepGoesOnWhereAnyoneLeftItAndBeginsAnewWhenItIsDue) {
  constexpr int kUsers = 30;
  for (uint64_t nth = 1; nth <= kUsers; ++nth) {
    const std::string user = ToString(shards_.UserOn(0, nth));
    shards_.on(0).Execute("INSERT INTO user_rel (user_id, following_cnt) VALUES (" + user + ", 1)");
    shards_.on(0).Execute("INSERT INTO following (src, dst, ver, state, pos) SELECT " + user +
                          ", 1000000 + seq, 1, 1, 1 FROM " + Numbers(nth));
  }
  const auto page = [&] {
    return SweepPage(shards_.on(0), shards_.map(), std::chrono::hours(1), 40);
  };
  uint64_t users = 0, marked = 0;
  int pages = 0;
  for (bool over = false; !over && pages < 100; ++pages) {
    const CountersSwept swept = page();
    users += swept.users;
    marked += swept.marked;
    over = swept.over;
  }
  EXPECT_GT(pages, 5);
  EXPECT_EQ(users, static_cast<uint64_t>(kUsers));
  EXPECT_EQ(marked, kUsers - 1u) << "all but the one who follows one";
  const CountersSwept idle = page();
  EXPECT_TRUE(idle.over);
  EXPECT_EQ(idle.users, 0u);
  shards_.on(0).Execute("UPDATE counter_sweep SET began = began - 3600000");
  EXPECT_GT(page().users, 0u);
}

TEST_F(CounterStoreTest, ACountThatIsTooMuchForOneStatementGoesOnInPieces) {
  shards_.of(bob_).Execute("INSERT INTO user_fan (user_id, fans_cnt) VALUES (" + ToString(bob_) +
                           ", 7)");
  shards_.of(bob_).Execute("INSERT INTO follower (dst, bucket, src, ver, state, pos) SELECT " +
                           ToString(bob_) + ", seq % 1024, seq, 1, seq % 10 <> 0, seq FROM " +
                           Numbers(30'000));
  shards_.of(bob_).Execute(
      "INSERT INTO following (src, dst, ver, state, pos) SELECT " + ToString(bob_) +
      ", IF(seq % 2, 0, 18446744073709551000 - 100000) + seq + 1, 1, 1, seq FROM " +
      Numbers(30'000));
  for (const auto at_once : {std::chrono::milliseconds(1), std::chrono::milliseconds(15'000)}) {
    const CounterFound followers = CountOne(shards_.of(bob_), {bob_, Counter::kFollowers}, at_once);
    EXPECT_EQ(followers.counter, 7);
    EXPECT_EQ(followers.rows, 27'000);
    EXPECT_EQ(CountOne(shards_.of(bob_), {bob_, Counter::kFollowed}, at_once).rows, 30'000);
  }
}

}  // namespace
}  // namespace fanline::mysql
