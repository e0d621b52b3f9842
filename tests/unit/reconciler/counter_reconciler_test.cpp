#include "reconciler/counter_reconciler.h"

#include <gmock/gmock.h>

#include "tests/fakes/requests.h"

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
  uint64_t swept = 0, found = 0;
  void CountersSwept(uint64_t users, uint64_t wrong) override {
    swept += users;
    found += wrong;
  }
  void CounterRepaired(int64_t drift) override { drifts.push_back(drift); }
  void Parked(const std::string&) override { ++parked; }
};

struct Asked : ServesAll<Asked, ReadMarked, RepairCounter, SweepCounters, PurgeRepairs> {
  std::vector<ReadMarked> reads;
  std::vector<RepairCounter> repairs;
  std::vector<SweepCounters> sweeps;
  std::vector<PurgeRepairs> purges;
  void Serve(ReadMarked request, ReplyTo<MarkedRead>) { reads.push_back(request); }
  void Serve(RepairCounter request, ReplyTo<CounterRepaired>) { repairs.push_back(request); }
  void Serve(SweepCounters request, ReplyTo<CountersSwept>) { sweeps.push_back(request); }
  void Serve(PurgeRepairs request, ReplyTo<RepairsPurged>) { purges.push_back(request); }
};

class CounterReconcilerTest : public ::testing::Test {
 protected:
  CounterReconcilerTest() { gate_.SetMode(ReconcilerMode::kRun); }

  void Step(std::vector<CounterInput> inputs = {}, Duration later = {}) {
    now_ += later;
    StepNow(std::move(inputs));
    while (sweeps_are_over_ && !store_.sweeps.empty()) AnswerSweep(0, 0, true);
  }
  // The first one waiting.
  void AnswerSweep(uint64_t users, uint64_t marked, bool over, Status status = Status::Done()) {
    const CountersSwept reply{store_.sweeps.at(0).id, std::move(status), users, marked, over};
    store_.sweeps.erase(store_.sweeps.begin());
    StepNow({reply});
  }
  void AnswerPurge(uint64_t deleted, Status status = Status::Done()) {
    const RepairsPurged reply{store_.purges.at(0).id, std::move(status), deleted};
    store_.purges.erase(store_.purges.begin());
    StepNow({reply});
  }
  // Answers the last poll of `shard`.
  void Marked(Shard shard, std::vector<UserCounter> counters) {
    for (const ReadMarked& read : std::exchange(store_.reads, {})) {
      Step({MarkedRead{read.id, {}, read.shard == shard ? counters : std::vector<UserCounter>()}});
    }
  }

  void StepNow(std::vector<CounterInput> inputs) {
    next_ = counters_.Step(inputs, {now_, 0}).next_timer;
    while (purges_are_over_ && !store_.purges.empty()) AnswerPurge(0);
  }

  bool sweeps_are_over_ = true, purges_are_over_ = true;
  Asked store_;
  Told told_;
  RepairGate gate_{{}, 2};
  CounterReconciler counters_{{store_, fakes::nobody}, told_, gate_, 2};
  Time now_{1h};
  std::optional<Time> next_;
  const UserCounter ann_{UserId{7}, Counter::kFollowed}, bob_{UserId{8}, Counter::kFollowers};
};

TEST_F(CounterReconcilerTest, WhatIsMarkedOnAnyShardIsRepairedAndTold) {
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
  EXPECT_TRUE(counters_.drained());
}

TEST_F(CounterReconcilerTest, AShardThatHasNotAnsweredHoldsUpOnlyItself) {
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

TEST_F(CounterReconcilerTest, ARepairThatFailedIsMetAgainAfterAWhileAndTheOthersAreNotKeptWaiting) {
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

TEST_F(CounterReconcilerTest, InADryRunAndPausedItOnlyTells) {
  for (const ReconcilerMode mode : {ReconcilerMode::kDryRun, ReconcilerMode::kPause}) {
    gate_.SetMode(mode);
    told_.marked.clear();
    Step({}, 1s);
    Marked(0, {ann_});
    EXPECT_EQ(told_.marked[0], 1u);
    EXPECT_THAT(store_.repairs, IsEmpty());
  }
}

TEST_F(CounterReconcilerTest, EverybodysCountersAreSweptAtTheRateGiven) {
  sweeps_are_over_ = false;
  Step();
  EXPECT_THAT(store_.sweeps, IsEmpty()) << "what is known to be wrong goes first";
  Marked(0, {});
  ASSERT_THAT(store_.sweeps, SizeIs(2));
  EXPECT_EQ(store_.sweeps[0].every, 24h);
  AnswerSweep(250, 3, false);
  EXPECT_EQ(told_.swept, 250u);
  EXPECT_EQ(told_.found, 3u);
  Step({}, 499ms);
  EXPECT_THAT(store_.sweeps, SizeIs(1)) << "250 users at 500 a second are half a second";
  Step({}, 1ms);
  EXPECT_THAT(store_.sweeps, SizeIs(2));
  AnswerSweep(7, 0, true);
  AnswerSweep(0, 0, false, Status::Later("mysql_1", "away"));
  EXPECT_EQ(told_.parked, 1);
  Step({}, 400ms);
  Marked(0, {});
  EXPECT_THAT(store_.sweeps, IsEmpty());
  for (int second = 0; second < 31; ++second) {
    Step({}, 1s);
    Marked(0, {});
  }
  EXPECT_THAT(store_.sweeps, SizeIs(1)) << "the shard that was away; the other's is over";
}

// Users with many rows: counting them may take far longer than their number says.
TEST_F(CounterReconcilerTest, AfterALongPageASweepRestsAsLongAsThePageTook) {
  sweeps_are_over_ = false;
  Step();
  Marked(0, {});
  ASSERT_THAT(store_.sweeps, SizeIs(2));
  Step({}, 4s);
  AnswerSweep(2, 0, false);
  Step({}, 3999ms);
  for (int i = 0; i < 2; ++i) Marked(0, {});  // the earlier poll, and the one that was due since
  EXPECT_THAT(store_.sweeps, SizeIs(1)) << "the other shard's";
  Step({}, 1ms);
  EXPECT_THAT(store_.sweeps, SizeIs(2));
}

// Users with millions of rows: a page takes longer than the time between two polls.
TEST_F(CounterReconcilerTest, ASweepOfLongPagesDoesNotKeepWhatIsMarkedWaiting) {
  sweeps_are_over_ = false;
  Step();
  Marked(0, {});
  ASSERT_THAT(store_.sweeps, SizeIs(2));
  Step({}, 1s);
  EXPECT_THAT(store_.reads, IsEmpty()) << "the shards are still at it";
  Step({}, 500ms);
  AnswerSweep(1, 0, false);
  ASSERT_THAT(store_.reads, SizeIs(1));
  EXPECT_THAT(store_.sweeps, SizeIs(1)) << "the other shard's";
  Marked(0, {ann_});
  EXPECT_THAT(store_.repairs, SizeIs(1));
}

TEST_F(CounterReconcilerTest, PausedNothingIsSweptAndInADryRunMarksAreAllThatIsWritten) {
  sweeps_are_over_ = false;
  gate_.SetMode(ReconcilerMode::kPause);
  Step();
  Marked(0, {});
  Step({}, 5s);
  EXPECT_THAT(store_.sweeps, IsEmpty());
  EXPECT_EQ(next_, now_ + 1s);
  gate_.SetMode(ReconcilerMode::kDryRun);
  Marked(0, {});
  Step({}, 1s);
  Marked(0, {ann_});
  EXPECT_THAT(store_.repairs, IsEmpty());
  EXPECT_FALSE(store_.sweeps.empty());
}

TEST_F(CounterReconcilerTest, AlsoPausedItPurgesTheRecordOfRepairsByAgeAndGoesOnWhileThereIsMore) {
  purges_are_over_ = false;
  gate_.SetMode(ReconcilerMode::kPause);
  Step();
  Marked(0, {});
  ASSERT_THAT(store_.purges, SizeIs(2));
  EXPECT_EQ(store_.purges[0].keep, std::chrono::seconds(30 * 24h));
  AnswerPurge(store_.purges[0].most);
  AnswerPurge(0, Status::Later("mysql_1", "away"));
  EXPECT_EQ(told_.parked, 1);
  Step({}, 1s);
  Marked(0, {});
  ASSERT_THAT(store_.purges, SizeIs(1)) << "of the shard with more";
  EXPECT_EQ(store_.purges[0].shard, 0u);
  AnswerPurge(3);
  EXPECT_THAT(store_.purges, IsEmpty());
  Step({}, 30s);
  Marked(0, {});
  ASSERT_THAT(store_.purges, SizeIs(1)) << "the shard that was away";
  EXPECT_EQ(store_.purges[0].shard, 1u);
  AnswerPurge(0);
  Step({}, 1h);
  Marked(0, {});
  EXPECT_THAT(store_.purges, SizeIs(2));
}

TEST_F(CounterReconcilerTest, ToldToLeaveItWaitsForWhatIsUnderWayAndAsksNoMore) {
  Step();
  counters_.StopTaking();
  EXPECT_FALSE(counters_.drained());
  Marked(0, {ann_});
  EXPECT_THAT(store_.repairs, IsEmpty());
  EXPECT_TRUE(counters_.drained());
  Step({}, 5s);
  EXPECT_THAT(store_.reads, IsEmpty());
}

}  // namespace
}  // namespace fanline::reconciler
