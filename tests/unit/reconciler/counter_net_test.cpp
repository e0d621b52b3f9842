#include "reconciler/counter_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanline::reconciler {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Told : Metrics {
  std::map<Shard, uint64_t> marked;
  std::vector<int64_t> drifts;
  int parked = 0;
  void CountersMarked(Shard shard, uint64_t counters) override { marked[shard] = counters; }
  void CounterRepaired(int64_t drift) override { drifts.push_back(drift); }
  void Parked(const std::string&) override { ++parked; }
};

struct Asked : CounterStore {
  std::vector<ReadMarked> reads;
  std::vector<RepairCounter> repairs;
  void Submit(ReadMarked request) override { reads.push_back(request); }
  void Submit(RepairCounter request) override { repairs.push_back(request); }
};

class CounterNetTest : public ::testing::Test {
 protected:
  CounterNetTest() { guards_.SetMode(ReconcilerMode::kRun); }

  void Step(std::vector<CounterInput> inputs = {}, Duration later = {}) {
    now_ += later;
    next_ = net_.Step(inputs, {now_, 0});
  }
  // Answers the last look at `shard`.
  void Marked(Shard shard, std::vector<UserCounter> counters) {
    for (const ReadMarked& read : std::exchange(store_.reads, {})) {
      Step({MarkedRead{read.id, {}, read.shard == shard ? counters : std::vector<UserCounter>()}});
    }
  }

  Asked store_;
  Told told_;
  Guards guards_{{}, 2};
  CounterNet net_{store_, told_, guards_, 2};
  Time now_{1h};
  std::optional<Time> next_;
  const UserCounter ann_{UserId{7}, Counter::kFollowed}, bob_{UserId{8}, Counter::kFollowers};
};

TEST_F(CounterNetTest, WhatIsMarkedOnAnyShardIsRepairedAndTold) {
  Step();
  ASSERT_THAT(store_.reads, SizeIs(2));
  EXPECT_EQ(next_, now_ + 1s);
  Marked(1, {ann_, bob_});
  ASSERT_THAT(store_.repairs, SizeIs(1)) << "one of a shard at a time";
  EXPECT_EQ(store_.repairs[0].counter, ann_);
  EXPECT_EQ(told_.marked[1], 2u);
  Step({CounterRepaired{store_.repairs[0].id, {}, -3, true}});
  ASSERT_THAT(store_.repairs, SizeIs(2));
  EXPECT_EQ(store_.repairs[1].counter, bob_);
  EXPECT_EQ(store_.repairs[1].shard, 1u);
  Step({CounterRepaired{store_.repairs[1].id, {}, 0, false}});
  EXPECT_THAT(told_.drifts, ElementsAre(-3));
  EXPECT_TRUE(net_.drained());
}

TEST_F(CounterNetTest, AShardThatHasNotAnsweredHoldsUpOnlyItself) {
  Step();
  const ReadMarked slow = store_.reads.at(0);
  Step({MarkedRead{store_.reads.at(1).id, {}, {}}});
  store_.reads.clear();
  Step({}, 1s);
  ASSERT_THAT(store_.reads, SizeIs(1));
  EXPECT_EQ(store_.reads[0].shard, 1u);
  Step({MarkedRead{slow.id, Status::Later("mysql_0", "away"), {}}});
  EXPECT_EQ(told_.parked, 1);
}

TEST_F(CounterNetTest, ARepairThatFailedIsMetAgainAfterAWhileAndTheOthersAreNotKeptWaiting) {
  Step();
  Marked(0, {ann_, bob_});
  Step(
      {CounterRepaired{.id = store_.repairs.at(0).id, .status = Status::Later("mysql_0", "away")}});
  EXPECT_THAT(told_.drifts, IsEmpty());
  ASSERT_THAT(store_.repairs, SizeIs(2));
  EXPECT_EQ(store_.repairs[1].counter, bob_);
  Step({CounterRepaired{store_.repairs[1].id, {}, 1, true}});
  Step({}, 1s);
  ASSERT_THAT(store_.reads, SizeIs(1)) << "the other shard";
  EXPECT_EQ(store_.reads[0].shard, 1u);
  Step({MarkedRead{store_.reads[0].id, {}, {}}});
  store_.reads.clear();
  Step({}, 30s);
  Marked(0, {ann_});
  EXPECT_THAT(store_.repairs, SizeIs(3));
}

TEST_F(CounterNetTest, InADryRunAndPausedItOnlyTells) {
  for (const ReconcilerMode mode : {ReconcilerMode::kDryRun, ReconcilerMode::kPause}) {
    guards_.SetMode(mode);
    told_.marked.clear();
    Step({}, 1s);
    Marked(0, {ann_});
    EXPECT_EQ(told_.marked[0], 1u);
    EXPECT_THAT(store_.repairs, IsEmpty());
  }
}

TEST_F(CounterNetTest, ToldToLeaveItWaitsForWhatIsUnderWayAndAsksNoMore) {
  Step();
  net_.StopTaking();
  EXPECT_FALSE(net_.drained());
  Marked(0, {ann_});
  EXPECT_THAT(store_.repairs, IsEmpty());
  EXPECT_TRUE(net_.drained());
  Step({}, 5s);
  EXPECT_THAT(store_.reads, IsEmpty());
}

}  // namespace
}  // namespace fanline::reconciler
