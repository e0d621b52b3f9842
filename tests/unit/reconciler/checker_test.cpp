#include "reconciler/checker.h"

#include <gtest/gtest.h>

#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

using std::chrono::seconds;

constexpr EdgeKey kEdge{UserId{1}, UserId{2}};
constexpr EdgeState kFollows{100, true, 5}, kEnded{200, false, 5};

struct CheckerTest : ::testing::Test {
  CheckerTest() { guards.SetMode(ReconcilerMode::kRun); }

  // One check, to its end; whether it was resolved.
  bool Check(uint64_t ver = 100, EdgeKey edge = kEdge) {
    checker.Order({++tickets, edge, ver});
    const auto results = Finish();
    EXPECT_EQ(results.size(), 1u);
    return results.at(0).resolved;
  }

  std::vector<CheckResult> Finish() {
    (void)checker.Send(now);
    while (!world.requests.empty()) {
      Give(world.Answer());
      (void)checker.Send(now);
    }
    return checker.TakeResults();
  }

  void Give(const AnyReply& reply) {
    if (const auto* read = std::get_if<EdgesRead>(&reply)) checker.On(*read, now);
    if (const auto* logged = std::get_if<RepairLogged>(&reply)) checker.On(*logged);
    if (const auto* adopted = std::get_if<EdgeAdopted>(&reply)) checker.On(*adopted);
    if (const auto* applied = std::get_if<EdgesApplied>(&reply)) checker.On(*applied, now);
    if (const auto* hinted = std::get_if<HintsAppended>(&reply)) checker.On(*hinted);
    if (const auto* sent = std::get_if<RelationsAppended>(&reply)) checker.On(*sent);
  }

  void Pass(Duration time) { now.mono += time; }

  using Steps = std::vector<std::string>;

  RepairWorld world;
  GuardLimits limits;
  Guards guards{limits, 1};
  RequestIds ids{Part::kPairs};
  Checker checker{{world, world, world, world}, {}, guards, ids};
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
  uint64_t tickets = 0;
};

TEST_F(CheckerTest, EqualRowsCostAHintAndNothingElse) {
  world.forward[kEdge] = world.reverse[kEdge] = kFollows;
  EXPECT_TRUE(Check());
  EXPECT_EQ(world.done, Steps{"hints"});
  EXPECT_EQ(world.found[Finding::kEqual], 1);
}

TEST_F(CheckerTest, AMissingRowIsWrittenInTheOrderOfEveryChangeAndRecordedBefore) {
  world.forward[kEdge] = kFollows;
  EXPECT_TRUE(Check());
  EXPECT_EQ(world.done, (Steps{"log", "apply", "hints", "msg2"}));
  EXPECT_EQ(world.reverse[kEdge], kFollows);
  ASSERT_EQ(world.repairs.size(), 1u);
  EXPECT_EQ(world.repairs[0].net, "pair");
  EXPECT_EQ(world.repairs[0].cause, "missing");
  EXPECT_EQ(world.repairs[0].before, "none");
  EXPECT_EQ(world.repairs[0].after, "follows@100");
  EXPECT_EQ(world.repairs[0].ver, 100u);
  EXPECT_EQ(world.repaired[RepairKind::kAdd], 1);
}

TEST_F(CheckerTest, WhateverIsAwayLeavesTheCheckUnresolvedAndTheNextOneFinishesIt) {
  for (const char* what : {"store", "log", "apply", "hints", "msg2"}) {
    world.forward[kEdge] = kFollows;
    world.reverse.clear();
    world.away = {what};
    EXPECT_FALSE(Check()) << what;
    EXPECT_TRUE(checker.idle()) << what;
    world.away.clear();
    Pass(seconds(60));
    EXPECT_TRUE(Check()) << what;
    EXPECT_EQ(world.reverse[kEdge], kFollows) << what;
  }
}

TEST_F(CheckerTest, ARemovalNeedsASecondCheckAGraceLaterThatComesToTheSame) {
  world.forward[kEdge] = kEnded;
  world.reverse[kEdge] = kFollows;
  EXPECT_FALSE(Check(200));
  Pass(seconds(2));
  EXPECT_FALSE(Check(200));  // too early
  EXPECT_EQ(world.done, Steps{});
  Pass(seconds(1));
  EXPECT_TRUE(Check(200));
  EXPECT_EQ(world.reverse[kEdge], kEnded);
  EXPECT_EQ(world.repaired[RepairKind::kRemove], 1);
}

// Corrupt rows of an application: the forward one was bumped, and the reconciler died before it
// wrote the other. Nobody else knows of that version.
TEST_F(CheckerTest, ANewerForwardRowThatNobodyBringsIsAppliedAfterASecondCheck) {
  world.reverse[kEdge] = kFollows;
  world.forward[kEdge] = {kFollows.ver + 1, kFollows.live, kFollows.pos + 1};
  EXPECT_FALSE(Check(kFollows.ver));
  EXPECT_EQ(world.done, Steps{});
  Pass(seconds(3));
  EXPECT_TRUE(Check(kFollows.ver));
  EXPECT_EQ(world.reverse[kEdge], world.forward[kEdge]);
}

// It is not the number of checks that counts: the first may have read nothing.
TEST_F(CheckerTest, ACheckThatCouldNotReadIsNoFirstCheck) {
  world.forward[kEdge] = kEnded;
  world.reverse[kEdge] = kFollows;
  world.away = {"store"};
  EXPECT_FALSE(Check(200));
  world.away.clear();
  Pass(seconds(60));
  EXPECT_FALSE(Check(200));
  EXPECT_EQ(world.reverse[kEdge], kFollows);
}

TEST_F(CheckerTest, AnotherFindingBeginsAnew) {
  world.forward[kEdge] = kEnded;
  world.reverse[kEdge] = kFollows;
  EXPECT_FALSE(Check(200));
  Pass(seconds(10));
  world.forward[kEdge] = {300, false, 5};
  EXPECT_FALSE(Check(300));
  EXPECT_EQ(world.reverse[kEdge], kFollows);
}

TEST_F(CheckerTest, TheBreakerStopsRemovalsUntilTheModeComesBackToRun) {
  limits.breaker.removals_per_minute = 3;
  Guards strict(limits, 1);
  strict.SetMode(ReconcilerMode::kRun);
  Checker careful({world, world, world, world}, {}, strict, ids);
  const auto check_all = [&] {
    for (uint64_t src = 10; src < 20; ++src) {
      careful.Order({src, {UserId{src}, UserId{2}}, 200});
    }
    (void)careful.Send(now);
    while (!world.requests.empty()) {
      const AnyReply reply = world.Answer();
      if (const auto* read = std::get_if<EdgesRead>(&reply)) careful.On(*read, now);
      if (const auto* logged = std::get_if<RepairLogged>(&reply)) careful.On(*logged);
      if (const auto* applied = std::get_if<EdgesApplied>(&reply)) careful.On(*applied, now);
      if (const auto* hinted = std::get_if<HintsAppended>(&reply)) careful.On(*hinted);
      if (const auto* sent = std::get_if<RelationsAppended>(&reply)) careful.On(*sent);
    }
    Pass(seconds(61));
  };
  for (uint64_t src = 10; src < 20; ++src) {
    world.forward[{UserId{src}, UserId{2}}] = kEnded;
    world.reverse[{UserId{src}, UserId{2}}] = kFollows;
  }
  check_all();
  check_all();
  EXPECT_EQ(world.repaired[RepairKind::kRemove], 3);
  EXPECT_EQ(world.withheld, 7);
  EXPECT_TRUE(world.open[0]);
  check_all();  // a minute later too
  EXPECT_EQ(world.repaired[RepairKind::kRemove], 3);
  EXPECT_FALSE(strict.SetMode(ReconcilerMode::kDryRun));
  EXPECT_TRUE(strict.SetMode(ReconcilerMode::kRun));
  check_all();
  EXPECT_EQ(world.repaired[RepairKind::kRemove], 6);
}

TEST_F(CheckerTest, AReverseRowThatIsAheadBringsItsForwardRowBack) {
  world.forward[kEdge] = kFollows;
  world.reverse[kEdge] = {300, true, 9};
  EXPECT_TRUE(Check());
  EXPECT_EQ(world.done, (Steps{"log", "adopt", "apply", "hints", "msg2"}));
  EXPECT_EQ(world.forward[kEdge], (EdgeState{301, true, 9}));
  EXPECT_EQ(world.reverse[kEdge], world.forward[kEdge]);
  EXPECT_EQ(world.repaired[RepairKind::kBump], 1);
}

TEST_F(CheckerTest, AForwardRowThatChangedMeanwhileIsLeftAlone) {
  world.forward[kEdge] = kFollows;
  world.reverse[kEdge] = {300, true, 9};
  checker.Order({1, kEdge, 100});
  (void)checker.Send(now);
  Give(world.Answer());                    // read
  world.forward[kEdge] = {400, false, 9};  // an unfollow
  EXPECT_FALSE(Finish().at(0).resolved);
  EXPECT_EQ(world.forward[kEdge], (EdgeState{400, false, 9}));
}

TEST_F(CheckerTest, ADryRunReportsAndChangesNothing) {
  guards.SetMode(ReconcilerMode::kDryRun);
  world.forward[kEdge] = kFollows;
  EXPECT_FALSE(Check());
  EXPECT_EQ(world.done, Steps{});
  EXPECT_EQ(world.withheld, 1);
  EXPECT_EQ(world.found[Finding::kMissing], 1);
}

TEST_F(CheckerTest, APauseAsksNothing) {
  checker.Order({1, kEdge, 100});
  guards.SetMode(ReconcilerMode::kPause);
  EXPECT_FALSE(Finish().at(0).resolved);
  EXPECT_FALSE(Check());
  EXPECT_TRUE(world.requests.empty());
}

TEST_F(CheckerTest, NothingIsCheckedBeforeTheModeIsKnown) {
  Guards unknown(limits, 1);
  EXPECT_EQ(unknown.mode(), ReconcilerMode::kPause);
  EXPECT_FALSE(unknown.SetMode(ReconcilerMode::kRun));
  EXPECT_EQ(unknown.mode(), ReconcilerMode::kRun);
}

TEST_F(CheckerTest, AShardTakesSoManyChecksASecondAndInBatches) {
  limits.checks_per_second = limits.checks_burst = 700;
  Guards slow(limits, 1);
  slow.SetMode(ReconcilerMode::kRun);
  Checker throttled({world, world, world, world}, {}, slow, ids);
  for (uint64_t src = 10; src < 1'010; ++src) throttled.Order({src, {UserId{src}, UserId{2}}, 1});
  std::vector<size_t> batches;
  std::optional<Time> next;
  for (int i = 0; i < 5 && throttled.TakeResults().size() < 1'000; ++i) {
    next = throttled.Send(now);
    while (!world.requests.empty()) {
      const auto* read = std::get_if<ReadEdges>(&world.requests.front());
      if (read != nullptr) batches.push_back(read->edges.size());
      const AnyReply reply = world.Answer();
      if (const auto* rows = std::get_if<EdgesRead>(&reply)) throttled.On(*rows, now);
      if (const auto* hinted = std::get_if<HintsAppended>(&reply)) throttled.On(*hinted);
    }
    if (next) now.mono = *next + seconds(1);
  }
  EXPECT_EQ(batches, (std::vector<size_t>{500, 200, 300}));
  EXPECT_GT(world.throttled, Duration(0));
}

}  // namespace
}  // namespace fanline::reconciler
