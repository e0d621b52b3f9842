#include "reconciler/edge_comparer.h"

#include <gtest/gtest.h>

#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

using std::chrono::seconds;

constexpr EdgeState kAlive{100, true, 5}, kOver{200, false, 5};

EdgeKey Between(uint64_t src) { return {UserId{src}, UserId{2}}; }
EdgeClaim Said(const EdgeState& state, uint64_t log_id = 0) { return {state, true, log_id}; }

struct EdgeComparerTest : ::testing::Test {
  struct One {
    One(RepairWorld& world, RepairGate& gate, const EdgeComparer::Limits& limits = {},
        const Checker::Setup& setup = {})
        : comparer(Net::kLog,
                   {.log = {world, inputs},
                    .store = {world, inputs},
                    .retries = {world, inputs},
                    .metrics = world},
                   setup, limits, gate) {}
    fakes::Inbox<ComparerReply> inputs;
    EdgeComparer comparer;
  };

  EdgeComparerTest() { gate.SetMode(ReconcilerMode::kRun); }

  // Steps until nothing is left to do now; the tickets that are finished.
  std::vector<uint64_t> Run(One& with) {
    std::vector<uint64_t> all;
    do {
      for (const ComparerReply& input : std::exchange(with.inputs, {}))
        with.comparer.On(input, now);
      next = with.comparer.Send(now);
      for (const uint64_t ticket : with.comparer.TakeFinished()) all.push_back(ticket);
      while (!world.requests.empty()) world.Answer();
    } while (!with.inputs.empty());
    return all;
  }
  std::vector<uint64_t> Run() { return Run(one); }
  std::vector<uint64_t> Pass(Duration time) {
    now.mono += time;
    now.unix_ms += Milliseconds(time);
    return Run();
  }
  void Compare(uint64_t src, const EdgeClaim& claim = {}) {
    one.comparer.Compare({src, Between(src), claim});
  }

  using Tickets = std::vector<uint64_t>;

  RepairWorld world;
  RepairGate gate{GateLimits{}, 1};
  One one{world, gate};
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
  std::optional<Time> next;
};

TEST_F(EdgeComparerTest, EqualEdgesAreReadManyAtATimeAndPassSilently) {
  for (uint64_t src = 10; src < 410; ++src) {
    world.forward[Between(src)] = world.reverse[Between(src)] = kAlive;
    Compare(src, src % 2 == 0 ? Said(kAlive) : EdgeClaim{});
  }
  EXPECT_EQ(Run().size(), 400u);
  EXPECT_EQ(world.read, (std::vector<size_t>{300, 100}));
  EXPECT_TRUE(world.retries.empty());
  EXPECT_EQ(one.comparer.open(), 0u);
}

TEST_F(EdgeComparerTest, AClaimOlderThanTheHorizonIsPassedIfItsRowsAgree) {
  world.horizon = 1;
  Compare(10, Said({999, true, 5}));
  Compare(11, Said({1'000, true, 5}));
  EXPECT_EQ(Run(), Tickets{10});
  EXPECT_EQ(one.comparer.open(), 1u);
}

TEST_F(EdgeComparerTest, WhatLog1HasPendingIsTheMirrorsAndIsReadWhenItIsDone) {
  world.forward[Between(10)] = kAlive;
  world.Log(7, EdgeOf(Between(10), kAlive));
  Compare(10, Said(kAlive, 7));
  EXPECT_EQ(Run(), Tickets{});
  EXPECT_EQ(Pass(seconds(3)), Tickets{});
  EXPECT_TRUE(world.read.empty());
  world.log1.clear();  // the mirror marks it, and the reverse row that it wrote is lost
  EXPECT_EQ(Pass(seconds(3)), Tickets{});
  EXPECT_EQ(Pass(seconds(3)), Tickets{10});
  EXPECT_EQ(world.retries.size(), 1u);
}

TEST_F(EdgeComparerTest,
       ADifferenceThatIsStillThereAGraceLaterIsGivenToTheRetriesAsTheNetsFinding) {
  world.forward[Between(10)] = kAlive;
  Compare(10, Said(kAlive));
  EXPECT_EQ(Run(), Tickets{});
  EXPECT_EQ(Pass(seconds(2)), Tickets{});
  EXPECT_TRUE(world.retries.empty());
  EXPECT_EQ(Pass(seconds(1)), Tickets{10});
  ASSERT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(world.retries[0].edge, Between(10));
  EXPECT_EQ(world.retries[0].claim, Said(kAlive));
  EXPECT_EQ(world.retries[0].net, Net::kLog);
  EXPECT_EQ(world.retries[0].due, now.unix_ms) << "at once";
  EXPECT_EQ(world.differing[Finding::kMissing], 1);
}

TEST_F(EdgeComparerTest, ADifferenceThatGoesByItselfCostsNothing) {
  world.forward[Between(10)] = kAlive;
  Compare(10, Said(kAlive));
  Run();
  world.reverse[Between(10)] = kAlive;
  EXPECT_EQ(Pass(seconds(3)), Tickets{10});
  EXPECT_TRUE(world.retries.empty());
}

// Each look meets another change that is on its way.
TEST_F(EdgeComparerTest, AnEdgeThatKeepsChangingIsHeldAnew) {
  for (uint64_t ver = 100; ver < 105; ++ver) {
    world.forward[Between(10)] = {ver, true, 5};
    if (ver == 100) Compare(10, Said(kAlive));
    EXPECT_EQ(Pass(seconds(3)), Tickets{});
  }
  EXPECT_TRUE(world.retries.empty());
  Pass(seconds(3));
  EXPECT_EQ(world.retries.size(), 1u) << "it has come to rest";
}

// A reverse shard that was away for an hour: the newer change waits in log1 behind many others.
TEST_F(EdgeComparerTest, WhileTheMirrorIsBehindANewerChangeIsItsOwn) {
  world.reverse[Between(10)] = kAlive;
  world.forward[Between(10)] = {300, true, 6};
  world.newest_log_id = 50;
  world.Log(20, EdgeOf(Between(11), kAlive));
  Compare(10, Said(kAlive));
  Run();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Pass(seconds(3)), Tickets{});
  EXPECT_TRUE(world.retries.empty());
  world.log1.clear();
  world.newest_log_id = 90;
  world.Log(60, EdgeOf(Between(11), kAlive));  // of later changes: the edge's own was before
  world.reverse[Between(10)] = world.forward[Between(10)];
  EXPECT_EQ(Pass(seconds(3)), Tickets{10});
  EXPECT_TRUE(world.retries.empty());
}

TEST_F(EdgeComparerTest, WithoutTheseGuardsWhatIsOnItsWayIsADifference) {
  world.forward[Between(10)] = {300, true, 6};
  world.newest_log_id = 50;
  world.Log(20, EdgeOf(Between(11), kAlive));
  One eager(world, gate, {}, {.guards = {.differences_held = false}});
  eager.comparer.Compare({10, Between(10), {}});
  EXPECT_EQ(Run(eager), Tickets{10});
  One hasty(world, gate, {}, {.guards = {.lag_awaited = false}});
  hasty.comparer.Compare({10, Between(10), {}});
  EXPECT_EQ(Run(hasty), Tickets{});
  now.mono += seconds(3);
  EXPECT_EQ(Run(hasty), Tickets{10});
  EXPECT_EQ(world.retries.size(), 2u);
}

TEST_F(EdgeComparerTest, WhatTheMirrorHasPassedByIsADifference) {
  world.forward[Between(10)] = {300, true, 6};
  world.newest_log_id = 50;
  Compare(10);
  Run();
  world.Log(60, EdgeOf(Between(11), kAlive));
  world.newest_log_id = 60;
  EXPECT_EQ(Pass(seconds(3)), Tickets{}) << "60 may be its own";
  world.log1.clear();
  world.Log(61, EdgeOf(Between(11), kAlive));
  EXPECT_EQ(Pass(seconds(3)), Tickets{10});
  EXPECT_EQ(world.retries.size(), 1u);
}

TEST_F(EdgeComparerTest, AShardOfLog1ThatIsAwayHoldsWhatItAloneKnows) {
  world.forward[Between(10)] = {300, true, 6};
  Compare(10);
  Run();
  world.away = {"log1_0"};
  EXPECT_EQ(Pass(seconds(3)), Tickets{});
  EXPECT_TRUE(world.retries.empty());
  world.away.clear();
  EXPECT_EQ(Pass(seconds(3)), Tickets{10});
  EXPECT_EQ(world.retries.size(), 1u);
}

TEST_F(EdgeComparerTest, WhatCannotBeReadIsLeftToTheRetriesWithItsNet) {
  world.away = {"store"};
  Compare(10, Said(kAlive));
  Compare(11, Said(kOver));
  EXPECT_EQ(Run(), (Tickets{10, 11}));
  ASSERT_EQ(world.retries.size(), 2u);
  EXPECT_EQ(world.retries[0].edge, Between(10));
  EXPECT_EQ(world.retries[0].claim, Said(kAlive));
  EXPECT_EQ(world.retries[0].net, Net::kLog);
  EXPECT_GT(world.retries[0].due, now.unix_ms);
}

TEST_F(EdgeComparerTest, AShardThatIsAwayIsLeftAloneForAWhile) {
  world.away = {"store"};
  Compare(10, Said(kAlive));
  EXPECT_EQ(Run(), Tickets{10});
  world.away.clear();
  world.forward[Between(11)] = world.reverse[Between(11)] = kAlive;
  Compare(11, Said(kAlive));
  EXPECT_EQ(Run(), Tickets{});
  ASSERT_TRUE(next);
  EXPECT_GT(*next, now.mono);
  EXPECT_EQ(Pass(seconds(60)), Tickets{11});
}

TEST_F(EdgeComparerTest, NothingIsFinishedBeforeTheRetriesHaveIt) {
  world.away = {"store", "retries"};
  Compare(10, Said(kAlive));
  EXPECT_EQ(Run(), Tickets{});
  EXPECT_EQ(one.comparer.open(), 1u);
  world.away = {"store"};
  EXPECT_EQ(Pass(seconds(60)), Tickets{10});
  EXPECT_EQ(world.retries.size(), 1u);
}

TEST_F(EdgeComparerTest, AShardTakesSoManyEdgesASecond) {
  One slow(world, gate, {.edges_per_second = 10});
  for (uint64_t src = 10; src < 35; ++src) {
    world.forward[Between(src)] = world.reverse[Between(src)] = kAlive;
    slow.comparer.Compare({src, Between(src), {}});
  }
  EXPECT_EQ(Run(slow).size(), 10u);
  ASSERT_TRUE(next);
  EXPECT_GT(*next, now.mono);
  now.mono += seconds(1);
  EXPECT_EQ(Run(slow).size(), 10u);
}

TEST_F(EdgeComparerTest, InModePauseNothingIsAsked) {
  gate.SetMode(ReconcilerMode::kPause);
  Compare(10, Said(kAlive, 7));
  EXPECT_EQ(Run(), Tickets{});
  EXPECT_TRUE(world.asked.empty());
  EXPECT_TRUE(world.retries.empty());
  gate.SetMode(ReconcilerMode::kRun);
  Run();
  EXPECT_EQ(world.asked.size(), 1u);
}

TEST_F(EdgeComparerTest, ALookTellsAndDoesNothing) {
  using What = Looked::What;
  const auto looked = [this] {
    std::map<uint64_t, What> by_ticket;
    for (const Looked& each : one.comparer.TakeLooked()) by_ticket[each.ticket] = each.what;
    return by_ticket;
  };
  world.forward[Between(10)] = world.forward[Between(11)] = world.reverse[Between(11)] = kAlive;
  for (const uint64_t src : {10, 11}) one.comparer.Compare({src, Between(src), {}, true});
  EXPECT_EQ(Run(), Tickets{});
  EXPECT_EQ(looked(), (std::map<uint64_t, What>{{11, What::kEqual}}));
  EXPECT_EQ(Pass(seconds(3)), Tickets{});
  EXPECT_EQ(looked(), (std::map<uint64_t, What>{{10, What::kDiffers}}));
  world.away = {"store"};
  one.comparer.Compare({12, Between(12), {}, true});
  EXPECT_EQ(Run(), Tickets{});
  EXPECT_EQ(looked(), (std::map<uint64_t, What>{{12, What::kUnknown}}));
  EXPECT_TRUE(world.retries.empty());
  EXPECT_EQ(one.comparer.open(), 0u);
  one.comparer.HandOver({10, Between(10), {}}, now);
  const size_t reads = world.read.size();
  EXPECT_EQ(Run(), Tickets{10});
  EXPECT_EQ(world.retries.at(0).edge, Between(10));
  EXPECT_EQ(world.read.size(), reads) << "it was compared";
}

TEST_F(EdgeComparerTest, AStopBeginsNothingAndIsIdleWhenAllIsAnswered) {
  world.forward[Between(10)] = kAlive;
  Compare(10, Said(kAlive));
  (void)one.comparer.Send(now);
  EXPECT_FALSE(one.comparer.idle());
  one.comparer.StopTaking();
  EXPECT_EQ(Run(), Tickets{});
  EXPECT_TRUE(one.comparer.idle());
  EXPECT_EQ(Pass(seconds(60)), Tickets{});
  EXPECT_EQ(world.read.size(), 1u);
}

TEST_F(EdgeComparerTest, AStopLeavesWhatCannotBeReadToTheNextStart) {
  world.away = {"store"};
  Compare(10, Said(kAlive));
  (void)one.comparer.Send(now);
  one.comparer.StopTaking();
  EXPECT_EQ(Run(), Tickets{});
  EXPECT_TRUE(one.comparer.idle());
  EXPECT_TRUE(world.retries.empty());
}

}  // namespace
}  // namespace fanline::reconciler
