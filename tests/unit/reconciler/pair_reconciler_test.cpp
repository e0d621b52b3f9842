#include "reconciler/pair_reconciler.h"

#include <gtest/gtest.h>

#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

using std::chrono::seconds;

constexpr EdgeKey kPaired{UserId{1}, UserId{2}};
constexpr EdgeState kPairFollows{100, true, 5, Delivery::kNone};

PairReconciler::Ports PortsOf(RepairWorld& world, fakes::Inbox<PairReconcilerInput>& inputs) {
  auto to_checker = AsPart<CheckerReply>(inputs);
  return {world.PortsTo(to_checker), {world, inputs}, {world, inputs}, {world, inputs}, world};
}

struct PairReconcilerTest : ::testing::Test {
  explicit PairReconcilerTest(const PairReconciler::Setup& setup = {})
      : pairs(PortsOf(world, inputs), setup, Limits{}, gate) {
    inputs.push_back(PartitionAssigned{0, 0, 0});
    Step();
  }

  void Append(const RelationMessage& message) {
    inputs.push_back(Record{.offset = world.ends[0]++,
                            .timestamp = now.unix_ms,
                            .value = EncodeRelationMessage(message)});
  }
  void Written(const EdgeState& state, uint64_t log_id = 1) {
    world.forward[kPaired] = state;
    Append(EdgeWritten{EdgeOf(kPaired, state), log_id});
  }
  // And the mirror has not come to it.
  void WrittenAndPending(const EdgeState& state) {
    world.Log(1, EdgeOf(kPaired, state));
    Written(state);
  }

  // Steps until nothing is left to do now; what it appends is not read back.
  void Step() {
    do {
      fakes::Inbox<PairReconcilerInput> given;
      given.swap(inputs);
      const Progress progress = pairs.Step(given, now);
      for (const auto& at : progress.orders.commit) committed = at.offset;
      while (!world.requests.empty()) world.Answer();
      if (progress.next_timer && *progress.next_timer <= now.mono && inputs.empty()) {
        (void)pairs.Step({}, now);
      }
    } while (!inputs.empty());
  }

  void Pass(seconds time) {
    for (seconds passed{0}; passed < time; passed += seconds(1)) {
      now.mono += seconds(1);
      now.unix_ms += 1'000;
      inputs.push_back(LogEndSeen{0, world.ends[0], now.mono});
      Step();
    }
  }

  RepairWorld world;
  RepairGate gate{GateLimits{}, 1};
  fakes::Inbox<PairReconcilerInput> inputs;
  PairReconciler pairs;
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
  int64_t committed = -1;
};

TEST_F(PairReconcilerTest, AHealthyPairCostsNoCheckAndNoRepair) {
  Written(kPairFollows);
  Append(EdgeMirrored{kPaired, 100});
  Pass(seconds(10));
  EXPECT_TRUE(world.found.empty());
  EXPECT_TRUE(world.done.empty());
  EXPECT_EQ(committed, 2);
}

TEST_F(PairReconcilerTest, AChangeWithoutItsSecondHalfIsRepairedAfterTheGrace) {
  Written(kPairFollows);
  Pass(seconds(3));
  EXPECT_LE(committed, 0) << "a pair that is pending holds its offset";
  Pass(seconds(2));
  EXPECT_EQ(world.reverse[kPaired], kPairFollows);
  EXPECT_EQ(world.repairs.size(), 1u);
  EXPECT_EQ(committed, 1);
}

TEST_F(PairReconcilerTest, AMirrorThatIsBehindForHoursCostsOneQuestionAndHoldsNothing) {
  WrittenAndPending(kPairFollows);
  Pass(seconds(5));
  EXPECT_EQ(world.left_to_mirror, 1);
  EXPECT_EQ(committed, 1);
  Pass(seconds(3'600));
  EXPECT_EQ(world.asked.size(), 1u);
  EXPECT_TRUE(world.found.empty());
  EXPECT_TRUE(world.retries.empty());
}

TEST_F(PairReconcilerTest, AMirrorThatComesToItSoonAfterTheQuestionCostsNoCheck) {
  WrittenAndPending(kPairFollows);
  Pass(seconds(20));
  Append(EdgeMirrored{kPaired, 100});
  Pass(seconds(60));
  EXPECT_TRUE(world.found.empty());
  EXPECT_EQ(committed, 2);
}

TEST_F(PairReconcilerTest, AForwardShardThatCannotBeAskedSendsItsPairsToTheRetries) {
  world.away = {"log1_0"};
  WrittenAndPending(kPairFollows);
  Pass(seconds(20));
  ASSERT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(world.retries[0].claim, (EdgeClaim{kPairFollows, true, 1})) << "to be asked for there";
  EXPECT_TRUE(world.found.empty());
  EXPECT_EQ(committed, 1);
}

TEST_F(PairReconcilerTest, AShardThatIsAwayHoldsTheLogForAFewChecksOnly) {
  world.away = {"store"};
  Written(kPairFollows);
  Pass(seconds(20));
  ASSERT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(world.retries[0].claim.state.ver, 100u);
  EXPECT_GT(world.retries[0].due, now.unix_ms - 20'000);
  EXPECT_EQ(committed, 1);
}

TEST_F(PairReconcilerTest, APauseSendsThePairsToTheRetries) {
  world.mode = ReconcilerMode::kPause;
  Pass(seconds(2));
  Written(kPairFollows);
  Pass(seconds(20));
  EXPECT_TRUE(world.found.empty());
  EXPECT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(committed, 1);
}

TEST_F(PairReconcilerTest, TellsHowFarItsCommitIsBehind) {
  Written(kPairFollows);
  Pass(seconds(2));
  EXPECT_EQ(world.commit_lag, 1u);
  Append(EdgeMirrored{kPaired, 100});
  Pass(seconds(3));
  EXPECT_EQ(world.commit_lag, 0u);
}

TEST_F(PairReconcilerTest, WhatIsNoMessageIsPassedOver) {
  inputs.push_back(Record{.offset = world.ends[0]++, .value = "no message"});
  Pass(seconds(2));
  EXPECT_EQ(committed, 1);
}

TEST_F(PairReconcilerTest, AStopFinishesWhatWasBegunAndKeepsWhatIsPending) {
  Written(kPairFollows);
  Pass(seconds(1));
  pairs.StopTaking();
  Pass(seconds(10));
  EXPECT_TRUE(pairs.drained());
  EXPECT_EQ(pairs.pending(), 1u);
  EXPECT_LE(committed, 0);
}

// An application's own mirror reads relation-log, and its messages name no row of log1.
struct OfAnApplication : PairReconcilerTest {
  OfAnApplication() : PairReconcilerTest({.checker = {.ours = false}, .mirror_group = true}) {}
};

TEST_F(OfAnApplication, WhileItsMirrorLagsNothingIsCheckedHoweverLongThatTakes) {
  Written(kPairFollows, 0);
  Pass(seconds(300));
  EXPECT_TRUE(world.found.empty());
  EXPECT_TRUE(world.retries.empty());
  EXPECT_LE(committed, 0);
  world.committed[0] = world.ends[0];
  Pass(seconds(5));
  EXPECT_EQ(world.found[Finding::kMissing], 1);
  EXPECT_EQ(world.reverse[kPaired], kPairFollows);
}

TEST_F(OfAnApplication, AMirrorThatComesBackAnswersWhatWasHeldBack) {
  Written(kPairFollows, 0);
  Pass(seconds(20));
  Append(EdgeMirrored{kPaired, 100});
  world.committed[0] = world.ends[0];
  Pass(seconds(5));
  EXPECT_TRUE(world.found.empty());
  EXPECT_EQ(committed, 2);
}

}  // namespace
}  // namespace fanline::reconciler
