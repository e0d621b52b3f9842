#include "reconciler/checker.h"

#include <gtest/gtest.h>

#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

using std::chrono::seconds;

constexpr EdgeKey kEdge{UserId{1}, UserId{2}};
constexpr EdgeState kFollows{100, true, 5, Delivery::kNoReposts}, kEnded{200, false, 5};

struct CheckerTest : ::testing::Test {
  CheckerTest() { gate.SetMode(ReconcilerMode::kRun); }

  // One check, to its end; whether it was resolved.
  bool Check(uint64_t ver = 100) { return Check(EdgeClaim{{ver}, false}).resolved; }
  CheckResult Check(const EdgeClaim& claim) {
    checker.Order({++tickets, kEdge, claim});
    const auto results = Finish();
    EXPECT_EQ(results.size(), 1u);
    return results.at(0);
  }

  std::vector<CheckResult> Finish() {
    (void)checker.Send(now);
    while (!world.requests.empty()) {
      world.Answer();
      (void)checker.Send(now);
    }
    return checker.TakeResults();
  }

  // The same by another checker.
  std::vector<CheckResult> Run(const Checker::Setup& setup, const std::vector<CheckOrder>& orders) {
    fakes::Inbox<CheckerReply> replies;
    Checker other(world.PortsTo(replies), setup, gate);
    for (const CheckOrder& order : orders) other.Order(order);
    do {
      for (const CheckerReply& reply : std::exchange(replies, {})) other.On(reply, now);
      (void)other.Send(now);
      while (!world.requests.empty()) world.Answer();
    } while (!replies.empty());
    return other.TakeResults();
  }

  void Push(const CheckerReply& reply) { checker.On(reply, now); }
  void Pass(Duration time) { now.mono += time; }

  using Steps = std::vector<std::string>;

  RepairWorld world;
  GateLimits limits;
  RepairGate gate{limits, 1};
  Checker checker{world.PortsTo(*this), {}, gate};
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
  uint64_t tickets = 0;
};

TEST_F(CheckerTest, EqualRowsCostAHintAndNothingElse) {
  world.forward[kEdge] = world.reverse[kEdge] = kFollows;
  EXPECT_TRUE(Check());
  EXPECT_EQ(world.done, Steps{"hints"});
  EXPECT_EQ(world.found[Finding::kEqual], 1);
}

// Of a scan's finding a repair may have been made, and its reconciler have died before its hint.
TEST_F(CheckerTest, EqualRowsOfAScansFindingGetTheHint) {
  world.forward[kEdge] = world.reverse[kEdge] = kFollows;
  checker.Order({++tickets, kEdge, {}, Net::kLog});
  EXPECT_TRUE(Finish().at(0).resolved);
  EXPECT_EQ(world.done, Steps{"hints"});
}

TEST_F(CheckerTest, ARepairIsAsOldAsTheChangeThatWasLost) {
  const auto ver = static_cast<uint64_t>(now.unix_ms - 60'000) * 1'000;
  world.forward[kEdge] = {ver, true, 5};
  EXPECT_TRUE(Check(ver));
  EXPECT_EQ(world.last_age, seconds(60));
  EXPECT_EQ(world.by_net[Net::kPair], 1);
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
  EXPECT_EQ(world.repairs[0].after, "follows no_reposts@100");
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

// Checks are not just counted: the first may have read nothing.
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

// ---- rows of log1 ---------------------------------------------------------------------------

// What msg1 says.
EdgeClaim Written(const EdgeState& state, uint64_t log_id = 7) { return {state, true, log_id}; }

TEST_F(CheckerTest, WhatLog1HasPendingIsTheMirrorsAndNobodyReadsItsRows) {
  world.forward[kEdge] = kFollows;
  world.Log(7, EdgeOf(kEdge, kFollows));
  EXPECT_TRUE(Check(Written(kFollows)).resolved);
  EXPECT_EQ(world.left_to_mirror, 1);
  EXPECT_TRUE(world.found.empty());
  EXPECT_TRUE(world.done.empty());
}

// It may have been carried, and lost before it is marked.
TEST_F(CheckerTest, AnEntryOfTheRetriesWaitsUntilThePendingRowIsMarked) {
  world.forward[kEdge] = kFollows;
  world.Log(7, EdgeOf(kEdge, kFollows));
  checker.Order({++tickets, kEdge, Written(kFollows), Net::kPair, true});
  EXPECT_FALSE(Finish().at(0).resolved);
  EXPECT_TRUE(world.done.empty());
}

TEST_F(CheckerTest, ARowThatIsDoneOrGoneIsNoAnswerAndTheRowsAreCompared) {
  world.forward[kEdge] = kFollows;
  EXPECT_TRUE(Check(Written(kFollows)).resolved);
  EXPECT_EQ(world.asked.size(), 1u);
  EXPECT_EQ(world.found[Finding::kMissing], 1);
  EXPECT_EQ(world.reverse[kEdge], kFollows);
}

// The shard lost its tail, and gave the id out again.
TEST_F(CheckerTest, AnotherRowOfTheSameIdIsNoAnswer) {
  world.forward[kEdge] = kFollows;
  for (const Edge& other : {EdgeOf({UserId{3}, UserId{4}}, kFollows), EdgeOf(kEdge, kEnded)}) {
    world.Log(7, other);
    EXPECT_TRUE(Check(Written(kFollows)).resolved);
  }
  EXPECT_EQ(world.left_to_mirror, 0);
  EXPECT_EQ(world.found[Finding::kMissing], 1);
}

TEST_F(CheckerTest, RowsAreAskedForManyAtATime) {
  std::vector<CheckOrder> orders;
  for (uint64_t src = 10; src < 13; ++src) {
    const EdgeKey edge{UserId{src}, UserId{2}};
    world.Log(src, EdgeOf(edge, kFollows));
    orders.push_back({src, edge, Written(kFollows, src)});
  }
  EXPECT_EQ(Run({.rows_per_ask = 2}, orders).size(), 3u);
  ASSERT_EQ(world.asked.size(), 2u);
  EXPECT_EQ(world.asked[0].log_ids, (std::vector<uint64_t>{10, 11}));
  EXPECT_EQ(world.asked[1].log_ids, (std::vector<uint64_t>{12}));
}

TEST_F(CheckerTest, AnApplicationsRowsAreNotInLog1) {
  Run({.ours = false}, {{1, kEdge, Written(kFollows)}});
  EXPECT_TRUE(world.asked.empty());
  EXPECT_EQ(world.found[Finding::kLost], 1);
}

// The unfollow after it was collected from both rows: it may not come back.
TEST_F(CheckerTest, AClaimOlderThanTheHorizonBringsNothingBack) {
  world.horizon = 1;
  const EdgeState before{999, true, 5}, after{1'000, true, 5};
  EXPECT_TRUE(Check(Written(before)).resolved);
  EXPECT_EQ(world.found[Finding::kEqual], 1);
  EXPECT_EQ(world.done, Steps{"hints"});
  EXPECT_TRUE(Check(Written(after)).resolved);
  EXPECT_EQ(world.found[Finding::kLost], 1);
  EXPECT_TRUE(world.forward.at(kEdge).live);
}

TEST_F(CheckerTest, RowsThatDifferAreRepairedWhateverTheHorizon) {
  world.horizon = 1'700'000'000'000;
  world.forward[kEdge] = kFollows;
  EXPECT_TRUE(Check(Written(kFollows)).resolved);
  EXPECT_EQ(world.reverse[kEdge], kFollows);
}

// Two shards of forward rows, one of reverse rows.
struct OfTwoForwardShards : CheckerTest {
  EdgeKey EdgeFrom(Shard shard) const {
    uint64_t id = 100;
    while (shards.forward.ShardOf(UserId{id}) != shard) ++id;
    return {UserId{id}, UserId{2}};
  }
  const EdgeShards shards{ShardMap::Even(1), ShardMap::Even(2)};
};

TEST_F(OfTwoForwardShards, OneThatIsAwayHoldsUpChecksOfItsOwnEdgesOnly) {
  world.away = {"log1_1"};
  world.forward[EdgeFrom(0)] = kFollows;
  const auto results = Run({.shards = shards}, {{1, EdgeFrom(1), Written(kFollows)},
                                                {2, EdgeFrom(0), Written(kFollows)}});
  ASSERT_EQ(results.size(), 2u);
  for (const CheckResult& result : results) EXPECT_EQ(result.resolved, result.order.ticket == 2);
  EXPECT_EQ(world.reverse[EdgeFrom(0)], kFollows);
}

TEST_F(OfTwoForwardShards, OneThatHangsHoldsUpChecksOfItsOwnEdgesOnly) {
  world.hangs = {"log1_1"};
  world.forward[EdgeFrom(0)] = kFollows;
  const auto results = Run({.shards = shards}, {{1, EdgeFrom(1), Written(kFollows)},
                                                {2, EdgeFrom(0), Written(kFollows)}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].order.ticket, 2u);
  EXPECT_TRUE(results[0].resolved);
}

// ---- removals -------------------------------------------------------------------------------

// Reconcilers of one fleet: each with a gate of its own, all on the same tables.
struct BreakerTest : ::testing::Test {
  static constexpr uint64_t kFirst = 10;

  struct One {
    One(RepairWorld& world, const Now& now_in, uint32_t removals_per_minute)
        : now(now_in),
          gate(LimitsOf(removals_per_minute), 1),
          checker(world.PortsTo(*this), {}, gate) {
      gate.SetMode(ReconcilerMode::kRun, world.closings);
    }
    static GateLimits LimitsOf(uint32_t removals_per_minute) {
      GateLimits limits{.removals_per_minute = removals_per_minute};
      limits.checks_per_second = limits.checks_burst = 100'000;
      return limits;
    }
    void Push(const CheckerReply& reply) { checker.On(reply, now); }

    const Now& now;
    RepairGate gate;
    Checker checker;
  };

  // `count` followers of one user have unfollowed him; the reverse rows do not know.
  void Unfollow(uint64_t count) {
    for (uint64_t src = kFirst; src < kFirst + count; ++src) {
      world.forward[{UserId{src}, UserId{2}}] = kEnded;
      world.reverse[{UserId{src}, UserId{2}}] = kFollows;
    }
    unfollowed = count;
  }

  // `one` checks all edges to the end; returns how many it resolved.
  int CheckAll(One& one) {
    for (uint64_t src = kFirst; src < kFirst + unfollowed; ++src) {
      one.checker.Order({src, {UserId{src}, UserId{2}}, {}});
    }
    int resolved = 0;
    while (true) {
      (void)one.checker.Send(now);
      for (const CheckResult& result : one.checker.TakeResults()) resolved += result.resolved;
      if (world.requests.empty()) break;
      world.Answer();
    }
    EXPECT_TRUE(one.checker.idle());
    return resolved;
  }

  // The first check of all edges, a grace before the one that may remove.
  void Suspect(One& one) {
    const int before = removed();
    CheckAll(one);
    EXPECT_EQ(removed(), before);
    Pass(seconds(5));
  }

  void Pass(Duration time) {
    now.mono += time;
    world.server_clock += std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  }

  int removed() { return world.repaired[RepairKind::kRemove]; }

  RepairWorld world;
  uint64_t unfollowed = 0;
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
};

TEST_F(BreakerTest, StopsRemovalsUntilTheModeComesBackToRun) {
  Unfollow(10);
  One one(world, now, 3);
  Suspect(one);
  EXPECT_EQ(CheckAll(one), 3);
  EXPECT_EQ(removed(), 3);
  EXPECT_EQ(world.withheld, 7);
  EXPECT_TRUE(world.open[0]);
  Pass(seconds(61));
  CheckAll(one);
  Pass(seconds(61));
  CheckAll(one);
  EXPECT_EQ(removed(), 3) << "closed by itself";
  EXPECT_TRUE(one.gate.BreakerOpen(0));
  one.gate.SetMode(ReconcilerMode::kRun, 1);
  EXPECT_FALSE(one.gate.BreakerOpen(0));
  CheckAll(one);
  EXPECT_EQ(removed(), 6);
}

TEST_F(BreakerTest, ARestartDoesNotCloseIt) {
  Unfollow(10);
  for (int restart = 0; restart < 5; ++restart) {
    One one(world, now, 3);
    Suspect(one);
    CheckAll(one);
    EXPECT_EQ(removed(), 3);
    Pass(seconds(61));
  }
}

TEST_F(BreakerTest, WhatIsNotGrantedYetIsAskedAgainLater) {
  Unfollow(2);
  One one(world, now, 3);
  Suspect(one);
  world.away = {"removals"};
  EXPECT_EQ(CheckAll(one), 0);
  EXPECT_EQ(world.withheld, 0) << "nobody has refused it";
  EXPECT_FALSE(one.gate.BreakerOpen(0));
  world.away.clear();
  EXPECT_EQ(CheckAll(one), 2);
}

TEST_F(BreakerTest, NothingIsRemovedOnceTheModeIsNotRunAnyMore) {
  Unfollow(1);
  One one(world, now, 3);
  Suspect(one);
  one.checker.Order({1, {UserId{kFirst}, UserId{2}}, {}});
  (void)one.checker.Send(now);
  world.Answer();
  (void)one.checker.Send(now);
  one.gate.SetMode(ReconcilerMode::kDryRun);
  EXPECT_FALSE(one.checker.idle());
  world.Answer();
  EXPECT_TRUE(one.checker.idle());
  EXPECT_FALSE(one.checker.TakeResults().at(0).resolved);
  EXPECT_TRUE(world.requests.empty());
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

// Both rows lost what the forward shard had acknowledged, so they agree.
TEST_F(CheckerTest, AChangeThatOnlyMsg1StillKnowsIsWrittenAboveIt) {
  const EdgeClaim claim{{300, true, 9}, true};
  EXPECT_TRUE(Check(claim).resolved);
  EXPECT_EQ(world.done, (Steps{"log", "adopt", "apply", "hints", "msg2"}));
  EXPECT_EQ(world.forward[kEdge], (EdgeState{301, true, 9}));
  EXPECT_EQ(world.reverse[kEdge], world.forward[kEdge]);
  EXPECT_EQ(world.found[Finding::kLost], 1);
  EXPECT_EQ(world.repaired[RepairKind::kBump], 1);
  EXPECT_EQ(world.repairs.at(0).cause, "lost");
  EXPECT_EQ(world.repairs.at(0).before, "none");
  EXPECT_EQ(world.repairs.at(0).after, "follows@301");
}

TEST_F(CheckerTest, AnUnfollowThatOnlyMsg1StillKnowsIsCheckedTwice) {
  world.forward[kEdge] = world.reverse[kEdge] = kFollows;
  const EdgeClaim claim{{300, false, 5}, true};
  EXPECT_FALSE(Check(claim).resolved);
  EXPECT_EQ(world.done, Steps{});
  Pass(seconds(3));
  EXPECT_TRUE(Check(claim).resolved);
  EXPECT_EQ(world.forward[kEdge], (EdgeState{301, false, 5}));
  EXPECT_EQ(world.reverse[kEdge], world.forward[kEdge]);
}

TEST_F(CheckerTest, WhatNoCheckCanResolveSaysWhy) {
  const std::string nobody = Check(EdgeClaim{{300}, false}).hopeless;
  EXPECT_EQ(nobody, "rows are lost, and no message says what they were");
  world.forward[kEdge] = {200, true, 5, StoredDelivery(7)};
  EXPECT_EQ(Check(EdgeClaim{{300}, false}).hopeless, nobody) << "whatever an older row brings";
  world.forward.clear();
  world.reverse[kEdge] = {UINT64_MAX, true, 5};
  EXPECT_EQ(Check(EdgeClaim{}).hopeless, "rows are orphan, and no version is left above them");
  world.reverse.clear();
  world.forward[kEdge] = kFollows;
  world.refused = {"apply"};
  EXPECT_EQ(Check(EdgeClaim{}).hopeless, "refused");
  EXPECT_EQ(world.hopeless, 4);
  world.refused.clear();
  world.away = {"apply"};
  EXPECT_EQ(Check(EdgeClaim{}).hopeless, "") << "it may come back";
  EXPECT_EQ(world.hopeless, 4);
}

TEST_F(CheckerTest, ADeliveryThatNobodyKnowsIsCopiedToNoRow) {
  const EdgeState odd{300, true, 5, StoredDelivery(7)};
  world.forward[kEdge] = odd;
  world.reverse[kEdge] = kFollows;
  const std::string why = "row (live) is 7, and there are 0, 1 and 2";
  EXPECT_EQ(Check(EdgeClaim{}).hopeless, "the delivery of the forward " + why);
  EXPECT_EQ(world.reverse[kEdge], kFollows);
  std::swap(world.forward[kEdge], world.reverse[kEdge]);
  EXPECT_EQ(Check(EdgeClaim{}).hopeless, "the delivery of the reverse " + why);
  EXPECT_EQ(world.forward[kEdge], kFollows);
  EXPECT_EQ(world.done, Steps{});
  EXPECT_EQ(world.found[Finding::kCorrupt], 2);
}

TEST_F(CheckerTest, AForwardRowThatChangedMeanwhileIsLeftAlone) {
  world.forward[kEdge] = kFollows;
  world.reverse[kEdge] = {300, true, 9};
  checker.Order({1, kEdge, {}});
  (void)checker.Send(now);
  world.Answer();                          // read
  world.forward[kEdge] = {400, false, 9};  // an unfollow
  EXPECT_FALSE(Finish().at(0).resolved);
  EXPECT_EQ(world.forward[kEdge], (EdgeState{400, false, 9}));
}

TEST_F(CheckerTest, ADryRunReportsAndChangesNothing) {
  gate.SetMode(ReconcilerMode::kDryRun);
  world.forward[kEdge] = kFollows;
  EXPECT_FALSE(Check());
  EXPECT_EQ(world.done, Steps{});
  EXPECT_EQ(world.withheld, 1);
  EXPECT_EQ(world.found[Finding::kMissing], 1);
}

TEST_F(CheckerTest, APauseAsksNothing) {
  checker.Order({1, kEdge, {}});
  gate.SetMode(ReconcilerMode::kPause);
  EXPECT_FALSE(Finish().at(0).resolved);
  EXPECT_FALSE(Check());
  EXPECT_TRUE(world.requests.empty());
}

TEST_F(CheckerTest, NothingIsCheckedBeforeTheModeIsKnown) {
  RepairGate unknown(limits, 1);
  EXPECT_EQ(unknown.mode(), ReconcilerMode::kPause);
  unknown.SetMode(ReconcilerMode::kRun);
  EXPECT_EQ(unknown.mode(), ReconcilerMode::kRun);
}

TEST_F(CheckerTest, AShardTakesSoManyChecksASecondAndInBatches) {
  limits.checks_per_second = limits.checks_burst = 700;
  RepairGate slow(limits, 1);
  slow.SetMode(ReconcilerMode::kRun);
  fakes::Inbox<CheckerReply> inbox;
  Checker throttled(world.PortsTo(inbox), {}, slow);
  for (uint64_t src = 10; src < 1'010; ++src) throttled.Order({src, {UserId{src}, UserId{2}}, {}});
  std::vector<size_t> batches;
  std::optional<Time> next;
  for (int i = 0; i < 5 && throttled.TakeResults().size() < 1'000; ++i) {
    next = throttled.Send(now);
    while (!world.requests.empty()) {
      const auto* read = world.requests.front().As<ReadEdges>();
      if (read != nullptr) batches.push_back(read->edges.size());
      world.Answer();
      for (const CheckerReply& reply : std::exchange(inbox, {})) throttled.On(reply, now);
    }
    if (next) now.mono = *next + seconds(1);
  }
  EXPECT_EQ(batches, (std::vector<size_t>{500, 200, 300}));
  EXPECT_GT(world.throttled, Duration(0));
}

}  // namespace
}  // namespace fanline::reconciler
