#include "reconciler/retry_reconciler.h"

#include <gtest/gtest.h>

#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

using std::chrono::seconds;

constexpr EdgeKey kRetried{UserId{1}, UserId{2}};

RetryReconciler::Ports PortsOf(RepairWorld& world, fakes::Inbox<RetryInput>& inputs) {
  auto to_checker = AsPart<CheckerReply>(inputs);
  return {world.PortsTo(to_checker), {world, inputs}, {world, inputs}, world};
}

struct RetryReconcilerTest : ::testing::Test {
  RetryReconcilerTest() {
    gate.SetMode(ReconcilerMode::kRun);
    inputs.push_back(PartitionAssigned{0, 0, 0});
    Step();
  }

  Record Entry(int64_t offset, Duration due_in, uint64_t ver = 100, uint32_t attempts = 0,
               uint32_t hopeless = 0) {
    return EntryOf(kRetried, offset, due_in, {{ver, true, 5}, true}, attempts, hopeless);
  }
  // Of an edge of its own.
  Record OtherEntry(int64_t offset, Duration due_in) {
    const EdgeKey edge{UserId{10 + static_cast<uint64_t>(offset)}, UserId{2}};
    world.forward[edge] = world.reverse[edge] = {100, true, 5};
    return EntryOf(edge, offset, due_in, {{100, true, 5}, true});
  }
  Record EntryOf(const EdgeKey& edge, int64_t offset, Duration due_in, const EdgeClaim& claim,
                 uint32_t attempts = 0, uint32_t hopeless = 0) {
    Record record{.topic = kRelationRetryTopic, .offset = offset};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(due_in).count();
    record.value = EncodeRelationRetry({edge, claim, now.unix_ms + ms, attempts, hopeless});
    return record;
  }

  // Steps until nothing is left to do now.
  void Step() {
    do {
      fakes::Inbox<RetryInput> given;
      given.swap(inputs);
      const Progress progress = retries.Step(given, now);
      for (const auto& at : progress.orders.commit) committed = at.offset;
      for (const int32_t partition : progress.orders.pause) paused = partition == 0;
      for (const int32_t partition : progress.orders.resume) paused = partition != 0;
      next = progress.next_timer;
      while (!world.requests.empty()) world.Answer();
    } while (!inputs.empty());
  }

  void Pass(Duration time) {
    now.mono += time;
    now.unix_ms += std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    Step();
  }

  RepairWorld world;
  RepairGate gate{GateLimits{}, 1};
  RetryLimits limits{.held = 10};
  fakes::Inbox<RetryInput> inputs;
  RetryReconciler retries{PortsOf(world, inputs), {}, limits, gate};
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
  int64_t committed = -1;
  bool paused = false;
  std::optional<Time> next;
};

TEST_F(RetryReconcilerTest, AnEntryIsCheckedWhenItIsDueAndCommittedWhenItIsRight) {
  world.forward[kRetried] = {100, true, 5};
  inputs.push_back(Entry(0, seconds(5)));
  Step();
  EXPECT_TRUE(world.done.empty());
  EXPECT_EQ(retries.held(), 1u);
  EXPECT_EQ(next, now.mono + seconds(5));
  Pass(seconds(5));
  Pass(seconds(2));
  EXPECT_EQ(world.reverse[kRetried], (EdgeState{100, true, 5}));
  EXPECT_EQ(committed, 1);
  EXPECT_TRUE(retries.drained());
}

TEST_F(RetryReconcilerTest, WhatIsStillWrongIsAppendedAnewMoreAndMorePatiently) {
  world.away = {"store"};
  inputs.push_back(Entry(0, seconds(0)));
  Step();
  ASSERT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(world.retries[0].attempts, 1u);
  EXPECT_EQ(world.retries[0].claim.state.ver, 100u);
  EXPECT_GE(world.retries[0].due, now.unix_ms + 5'000);
  EXPECT_LE(world.retries[0].due, now.unix_ms + 10'000);
  Pass(seconds(2));
  EXPECT_EQ(committed, 1);
}

TEST_F(RetryReconcilerTest, AnOffsetIsCommittedOnlyWhenTheNewEntryIsAcknowledged) {
  world.away = {"store", "retries"};
  inputs.push_back(Entry(0, seconds(0)));
  Step();
  Pass(seconds(2));
  EXPECT_EQ(committed, 0);
  world.away = {"store"};
  Pass(seconds(10));
  Pass(seconds(2));
  EXPECT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(committed, 1);
}

TEST_F(RetryReconcilerTest, EntriesBehindOneThatWaitsAreNotCommittedBeforeIt) {
  inputs.push_back(OtherEntry(0, seconds(60)));
  inputs.push_back(OtherEntry(1, seconds(0)));
  Step();
  Pass(seconds(2));
  EXPECT_EQ(committed, 0);
  Pass(seconds(60));
  Pass(seconds(2));
  EXPECT_EQ(committed, 2);
}

TEST_F(RetryReconcilerTest, TooManyHeldPauseTheLogUntilHalfOfThemAreDone) {
  world.away = {"retries"};
  for (int64_t i = 0; i < 10; ++i) inputs.push_back(OtherEntry(i, seconds(i < 5 ? 10 : 20)));
  Step();
  EXPECT_TRUE(paused);
  Pass(seconds(10));
  Pass(seconds(1));
  EXPECT_FALSE(paused);
}

// Ten entries of a shard that is away wait for minutes; what lies behind them in the log is due.
TEST_F(RetryReconcilerTest, TooManyHeldMakeRoomForWhatIsDueSooner) {
  for (int64_t i = 0; i < 10; ++i) inputs.push_back(OtherEntry(i, seconds(300 + i)));
  const UnixMs began = now.unix_ms;
  Step();
  ASSERT_EQ(world.retries.size(), 5u) << "due last";
  for (const RelationRetry& retry : world.retries) {
    EXPECT_GE(retry.due, began + 305'000);
    EXPECT_EQ(retry.attempts, 0u) << "it was not checked";
  }
  EXPECT_FALSE(paused);
  EXPECT_EQ(retries.held(), 5u);
  for (int64_t i = 10; i < 15; ++i) inputs.push_back(OtherEntry(i, seconds(200)));
  Step();
  EXPECT_EQ(world.retries.size(), 5u) << "round as fast as the log is read";
  EXPECT_TRUE(paused);
  EXPECT_EQ(next, now.mono + limits.make_room_every);
  Pass(limits.make_room_every);
  EXPECT_EQ(world.retries.size(), 10u);
  EXPECT_FALSE(paused);
}

// ---- one entry of an edge -------------------------------------------------------------------

TEST_F(RetryReconcilerTest, WhatIsHeldAlreadyIsFinishedAtOnce) {
  for (int64_t i = 0; i < 5; ++i) inputs.push_back(Entry(i, seconds(60)));
  Step();
  EXPECT_EQ(retries.held(), 1u);
  Pass(seconds(2));
  EXPECT_EQ(committed, 0) << "the first stands for all of them";
}

// What its pair still holds has not escaped it.
TEST_F(RetryReconcilerTest, AnEdgeThatItsPairHoldsIsThePairsFinding) {
  world.forward[kRetried] = {100, true, 5};
  Record scanned = EntryOf(kRetried, 0, seconds(5), {{100, true, 5}, true});
  scanned.value =
      EncodeRelationRetry({kRetried, {{100, true, 5}, true}, now.unix_ms + 5'000, 0, 0, Net::kLog});
  inputs.push_back(scanned);
  inputs.push_back(Entry(1, seconds(60)));
  Step();
  Pass(seconds(5));
  EXPECT_EQ(world.by_net[Net::kPair], 1);
  world.reverse.clear();
  scanned.offset = 2;
  inputs.push_back(scanned);
  Pass(seconds(5));
  EXPECT_EQ(world.by_net[Net::kLog], 1);
  EXPECT_EQ(world.repairs.back().net, "log");
  world.reverse.clear();
  inputs.push_back(Entry(3, seconds(5)));
  scanned.offset = 4;
  inputs.push_back(scanned);
  Step();
  Pass(seconds(5));
  EXPECT_EQ(world.by_net[Net::kPair], 2) << "also if the pair's entry came first";
}

TEST_F(RetryReconcilerTest, AHigherVersionStandsForThoseBelow) {
  world.forward[kRetried] = world.reverse[kRetried] = {101, true, 5};
  inputs.push_back(Entry(0, seconds(60), 100));
  inputs.push_back(Entry(1, seconds(5), 101));
  inputs.push_back(Entry(2, seconds(60), 100));
  Step();
  EXPECT_EQ(retries.held(), 1u);
  Pass(seconds(2));
  EXPECT_EQ(committed, 1);
  Pass(seconds(3));
  Pass(seconds(2));
  EXPECT_EQ(committed, 3);
  EXPECT_EQ(world.found[Finding::kEqual], 1);
}

TEST_F(RetryReconcilerTest, WhatMsg1SaysStandsForAMsg2OfItsVersion) {
  inputs.push_back(EntryOf(kRetried, 0, seconds(60), {{100}, false}));
  inputs.push_back(Entry(1, seconds(60)));
  Step();
  EXPECT_EQ(retries.held(), 1u);
  Pass(seconds(2));
  EXPECT_EQ(committed, 1);
}

// It is the copy of the entry that is being appended: neither may stand for the other.
TEST_F(RetryReconcilerTest, WhatIsAppendedAnewIsReadAgainAsItsOwnEntry) {
  world.away = {"store", "retries"};
  inputs.push_back(Entry(0, seconds(0)));
  Step();
  inputs.push_back(Entry(1, seconds(60), 100, 1));
  Step();
  EXPECT_EQ(retries.held(), 2u);
  world.away.clear();
  Pass(seconds(10));
  Pass(seconds(2));
  EXPECT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(committed, 1);
  EXPECT_EQ(retries.held(), 1u);
}

// The next owner may be this reconciler again.
TEST_F(RetryReconcilerTest, AnEntryOfAnAssignmentThatEndedStandsForNone) {
  inputs.push_back(Entry(0, seconds(60)));
  Step();
  inputs.push_back(PartitionRevoked{0});
  inputs.push_back(PartitionAssigned{0, 0, 0});
  Step();
  inputs.push_back(Entry(0, seconds(60)));
  Step();
  EXPECT_EQ(retries.held(), 1u);
  Pass(seconds(2));
  EXPECT_EQ(committed, 0) << "it is still to be checked";
}

// ---- ends -----------------------------------------------------------------------------------

TEST_F(RetryReconcilerTest, WhatIsNoEntryGoesToTheDeadLetters) {
  inputs.push_back(Record{.topic = kRelationRetryTopic, .value = "no entry"});
  Step();
  Pass(seconds(2));
  ASSERT_EQ(world.letters.size(), 1u);
  EXPECT_EQ(world.letters[0].stage, "reconciler");
  EXPECT_EQ(committed, 1);
}

// Row and counter of the reverse shard stand in a way that its tables refuse.
TEST_F(RetryReconcilerTest, WhatNoRepairCanSetRightIsALetterInTheEnd) {
  world.forward[kRetried] = {100, true, 5};
  world.refused = {"apply"};
  const uint32_t most = limits.hopeless_attempts;
  inputs.push_back(Entry(0, seconds(0), 100, most - 2, most - 2));
  Step();
  ASSERT_EQ(world.retries.size(), 1u) << "it may be mended by hand";
  EXPECT_EQ(world.retries[0].hopeless, most - 1);
  inputs.push_back(Entry(1, seconds(0), 100, world.retries[0].attempts, world.retries[0].hopeless));
  Step();
  Pass(seconds(2));
  EXPECT_EQ(world.retries.size(), 1u);
  ASSERT_EQ(world.letters.size(), 1u);
  EXPECT_EQ(world.letters[0].reason, "refused");
  EXPECT_EQ(world.letters[0].record.offset, 1);
  EXPECT_EQ(committed, 2);
}

TEST_F(RetryReconcilerTest, WhatWaitsForAShardIsNeverALetter) {
  world.away = {"store"};
  inputs.push_back(Entry(0, seconds(0), 100, 10 * limits.hopeless_attempts));
  Step();
  EXPECT_EQ(world.retries.size(), 1u);
  EXPECT_TRUE(world.letters.empty());
}

TEST_F(RetryReconcilerTest, WhatWaitedForAShardIsNoLetterAtTheFirstRefusal) {
  const uint32_t most = limits.hopeless_attempts;
  world.forward[kRetried] = {100, true, 5};
  world.refused = {"apply"};
  inputs.push_back(Entry(0, seconds(0), 100, 10 * most));
  Step();
  Pass(seconds(2));
  EXPECT_TRUE(world.letters.empty());
  ASSERT_EQ(world.retries.size(), 1u);
  EXPECT_EQ(world.retries[0].hopeless, 1u);
  world.away = {"store"};
  inputs.push_back(Entry(1, seconds(0), 100, 10 * most, most - 1));
  Step();
  EXPECT_TRUE(world.letters.empty());
  ASSERT_EQ(world.retries.size(), 2u);
  EXPECT_EQ(world.retries[1].hopeless, 0u) << "in a row";
}

// So that what was lost is still known when the shard is back.
TEST_F(RetryReconcilerTest, AnEntrySaysWhatMsg1Said) {
  world.away = {"store"};
  inputs.push_back(Entry(0, seconds(0)));
  Step();
  EXPECT_EQ(world.retries.at(0).claim, (EdgeClaim{{100, true, 5}, true}));
  world.away.clear();
  inputs.push_back(Entry(1, seconds(0)));
  Pass(seconds(60));
  EXPECT_EQ(world.forward[kRetried], (EdgeState{101, true, 5}));
}

TEST_F(RetryReconcilerTest, ALostPartitionIsNotCommittedAnyMore) {
  world.forward[kRetried] = world.reverse[kRetried] = {100, true, 5};
  inputs.push_back(Entry(0, seconds(5)));
  Step();
  inputs.push_back(PartitionRevoked{0});
  Step();
  EXPECT_EQ(retries.held(), 0u) << "its next owner's to do";
  Pass(seconds(10));
  EXPECT_EQ(committed, 0);
}

}  // namespace
}  // namespace fanline::reconciler
