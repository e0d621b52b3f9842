// Counters that are known to be wrong, asked for and repaired through the port of a reconciler.
#include "backends/mysql/counter_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/recounts.h"
#include "backends/mysql/relations.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/replies.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

template <class Reply>
uint64_t IdOf(const Reply& reply) {
  return reply.id;
}

class CounterStoreTest : public ::testing::Test {
 protected:
  std::vector<UserCounter> Marked(Shard shard, uint32_t limit = 100) {
    store_.Submit(ReadMarked{++id_, shard, limit});
    const MarkedRead read = marked_.Await(id_);
    EXPECT_TRUE(read.status.done()) << read.status.message;
    return read.counters;
  }
  CounterRepaired Repair(const UserCounter& counter) {
    store_.Submit(RepairCounter{++id_, shards_.map().ShardOf(counter.user), counter});
    CounterRepaired repaired = repaired_.Await(id_);
    EXPECT_TRUE(repaired.status.done()) << repaired.status.message;
    return repaired;
  }

  RelationShards shards_;
  uint64_t id_ = 0;
  Replies<MarkedRead> marked_{IdOf<MarkedRead>};
  Replies<CounterRepaired> repaired_{IdOf<CounterRepaired>};
  MysqlCounterStore store_{
      shards_.config(), {marked_.sink(), repaired_.sink()}, HealthSink(), kNoLog};
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

TEST_F(CounterStoreTest, AShardThatIsAwayAnswersLater) {
  Config broken = shards_.config();
  broken.shards[1].port = 1;
  Replies<MarkedRead> marked(IdOf<MarkedRead>);
  MysqlCounterStore store(broken, {marked.sink(), {}}, HealthSink(), kNoLog);
  store.Submit(ReadMarked{1, 0, 10});
  store.Submit(ReadMarked{2, 1, 10});
  EXPECT_TRUE(marked.Await(1).status.done());
  const Status status = marked.Await(2).status;
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
}

}  // namespace
}  // namespace fanline::mysql
