#include "reconciler/later_reconciler.h"

#include <gtest/gtest.h>

#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

EdgeKey FollowOf(uint64_t src) { return {UserId{src}, UserId{2}}; }
constexpr EdgeState kEarlier{100, true, 5}, kLater{200, true, 6};

struct LaterReconcilerTest : ::testing::Test {
  struct One {
    One(RepairWorld& world, RepairGate& gate, const LaterLimits& limits, bool mirror_group)
        : logic({.comparer = {.log = {world, to_comparer},
                              .store = {world, to_comparer},
                              .retries = {world, to_comparer},
                              .metrics = world},
                 .positions = {world, inputs},
                 .metrics = world},
                {.mirror_group = mirror_group}, {}, limits, gate) {}
    fakes::Inbox<LaterInput> inputs;
    PartOf<ComparerReply, fakes::Inbox<LaterInput>> to_comparer = AsPart<ComparerReply>(inputs);
    LaterReconciler logic;
  };

  LaterReconcilerTest() {
    gate.SetMode(ReconcilerMode::kRun);
    Begin({});
  }

  void Begin(const LaterLimits& limits, bool mirror_group = false) {
    one = std::make_unique<One>(world, gate, limits, mirror_group);
    committed = -1;
    one->inputs.push_back(PartitionAssigned{0, 0, 0});
    Step();
  }

  void Take(int64_t offset, const RelationMessage& message) {
    TakeBytes(offset, EncodeRelationMessage(message));
  }
  void TakeBytes(int64_t offset, const std::string& value) {
    one->inputs.push_back(
        Record{.partition = 0, .offset = offset, .timestamp = now.unix_ms, .value = value});
    Step();
  }
  void Written(int64_t offset, uint64_t src, const EdgeState& state, uint64_t log_id = 0) {
    Take(offset, EdgeWritten{EdgeOf(FollowOf(src), state), log_id});
  }

  void Step() {
    do {
      fakes::Inbox<LaterInput> given;
      given.swap(one->inputs);
      const Progress progress = one->logic.Step(given, now);
      for (const auto& at : progress.orders.commit) committed = at.offset;
      for (const int32_t partition : progress.orders.pause) paused = partition == 0;
      for (const int32_t partition : progress.orders.resume) paused = partition != 0;
      while (!world.requests.empty()) world.Answer();
    } while (!one->inputs.empty());
  }
  void Pass(Duration time) {
    now.mono += time;
    now.unix_ms += Milliseconds(time);
    Step();
    now.mono += seconds(1);
    Step();  // commits
  }

  RepairWorld world;
  RepairGate gate{GateLimits{}, 1};
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
  int64_t committed = -1;
  bool paused = false;
  std::unique_ptr<One> one;
};

// A reverse shard that fails over loses rows whose msg2 is out: no pair sees it.
TEST_F(LaterReconcilerTest, WhatGotLostAfterItsPairWasAnsweredIsRepairedTenMinutesLater) {
  world.forward[FollowOf(10)] = kEarlier;
  Written(0, 10, kEarlier);
  Take(1, EdgeMirrored{FollowOf(10), 100});
  Pass(minutes(9));
  EXPECT_TRUE(world.read.empty());
  EXPECT_EQ(committed, 0);
  Pass(minutes(1));
  EXPECT_EQ(world.read, (std::vector<size_t>{1})) << "both messages are one edge";
  Pass(seconds(3));
  ASSERT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(world.retries[0].edge, FollowOf(10));
  EXPECT_EQ(world.retries[0].net, Net::kLog);
  EXPECT_EQ(committed, 2);
}

TEST_F(LaterReconcilerTest, TheHighestVersionStandsForAllOfItsEdge) {
  world.forward[FollowOf(10)] = world.reverse[FollowOf(10)] = kEarlier;
  Written(0, 10, kLater, 0);
  Written(1, 10, kEarlier, 0);
  Take(2, EdgeMirrored{FollowOf(10), 200});
  Pass(minutes(10));
  Pass(seconds(3));
  ASSERT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(world.retries[0].claim.state, kLater)
      << "both rows lost it, and its msg1 says what it was";
}

TEST_F(LaterReconcilerTest, NothingIsCommittedBeforeItIsFinished) {
  world.forward[FollowOf(10)] = kEarlier;
  world.forward[FollowOf(11)] = world.reverse[FollowOf(11)] = kEarlier;
  Written(0, 10, kEarlier);
  Written(1, 11, kEarlier);
  Pass(minutes(10));
  EXPECT_EQ(committed, 0) << "10 is held for a grace";
  Pass(seconds(3));
  EXPECT_EQ(committed, 2);
}

TEST_F(LaterReconcilerTest, APartitionIsPausedWhileItHoldsMany) {
  Begin({.held = 4});
  for (int64_t i = 0; i < 4; ++i) Written(i, 10 + static_cast<uint64_t>(i), kEarlier);
  EXPECT_TRUE(paused);
  for (uint64_t src = 10; src < 14; ++src) {
    world.forward[FollowOf(src)] = world.reverse[FollowOf(src)] = kEarlier;
  }
  Pass(minutes(10));
  EXPECT_FALSE(paused);
  EXPECT_EQ(committed, 4);
}

TEST_F(LaterReconcilerTest, WhatIsNoMessageIsPassed) {
  TakeBytes(0, "?");
  Pass(seconds(1));
  EXPECT_EQ(committed, 1);
}

TEST_F(LaterReconcilerTest, ABacklogIsTakenInBatches) {
  Begin({.batch = 3, .open = 4});
  for (int64_t i = 0; i < 9; ++i) Written(i, 10 + static_cast<uint64_t>(i), kEarlier, 7);
  world.away = {"store"};
  Pass(minutes(10));
  for (int i = 0; i < 5; ++i) Pass(seconds(10));
  EXPECT_EQ(world.retries.size(), 9u);
  EXPECT_EQ(committed, 9);
}

TEST_F(LaterReconcilerTest, SoManyEdgesAreComparedAtOnce) {
  Begin({.batch = 3, .open = 4});
  for (int64_t i = 0; i < 9; ++i) Written(i, 10 + static_cast<uint64_t>(i), kEarlier);
  Pass(minutes(10));  // they differ, and are held for a grace
  EXPECT_EQ(world.read, (std::vector<size_t>{3, 3}));
  for (int i = 0; i < 5; ++i) Pass(seconds(10));
  EXPECT_EQ(world.retries.size(), 9u);
}

TEST_F(LaterReconcilerTest, InModePauseNothingIsTaken) {
  gate.SetMode(ReconcilerMode::kPause);
  Written(0, 10, kEarlier);
  Pass(minutes(60));
  EXPECT_TRUE(world.read.empty());
  EXPECT_EQ(committed, 0);
  gate.SetMode(ReconcilerMode::kRun);
  Pass(seconds(1));
  EXPECT_EQ(world.read.size(), 1u);
}

TEST_F(LaterReconcilerTest, AnApplicationsMirrorPassesARecordFirst) {
  Begin({}, true);
  world.committed[0] = 0;
  Written(0, 10, kEarlier);
  Pass(minutes(60));
  EXPECT_TRUE(world.read.empty());
  world.committed[0] = 1;
  Pass(seconds(2));
  EXPECT_FALSE(world.read.empty());
}

TEST_F(LaterReconcilerTest, WhatWasRevokedIsForgotten) {
  Written(0, 10, kEarlier);
  one->inputs.push_back(PartitionRevoked{0});
  Pass(minutes(10));
  EXPECT_TRUE(world.read.empty());
  EXPECT_TRUE(one->logic.drained());
}

}  // namespace
}  // namespace fanline::reconciler
