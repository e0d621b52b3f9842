// What range_owner learns of starts that end politely, whatever happens to the requests that say
// so. The next owner counts `starts` that stay as crashes.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

// What the next owner finds. Its own start is not counted.
RangeOwned Found(World& w) {
  RangeOwned found = w.mysql.Do(AcquireRange{1, 0});
  --found.starts;
  return found;
}

void Revoke(World& w) { w.inbox.insert(w.inbox.begin(), PartitionRevoked{0}); }

void PassSteps(World& w, int times, Duration step) {
  for (int i = 0; i < times; ++i) {
    w.Pass(step);
    w.RunUntilIdle();
  }
}

// Takes the range while `w` has it. The caller decides what becomes of this owner.
RangeOwned AnotherAcquires(World& w) { return w.mysql.Do(AcquireRange{1, 0}); }

// Runs until `w`, which meets epoch `others` in Redis, has the range again.
void TakeBack(World& w, uint64_t others) {
  w.redis.Do(ClaimRange{1, 0, others});
  PassSteps(w, 40, std::chrono::milliseconds(500));
  ASSERT_EQ(w.metrics.held.ranges_ready, 1u);
  ASSERT_EQ(w.metrics.takeovers.back(), TakeoverCause::kFenced);
}

TEST(Settlements, ARangeLeftWhileItsShardIsAwayIsSettledLater) {
  World w;
  w.Assign(0);
  w.owners_away = true;
  Revoke(w);
  PassSteps(w, 3, std::chrono::seconds(10));
  ASSERT_TRUE(w.next_timer);
  w.owners_away = false;
  PassSteps(w, 1, std::chrono::seconds(10));
  EXPECT_FALSE(w.next_timer);
  EXPECT_EQ(Found(w).starts, 0u);
}

TEST(Settlements, WhatIsSaidInVainIsSaidAgainFurtherAndFurtherApart) {
  World w;
  w.Assign(0);
  w.owners_away = true;
  Revoke(w);
  w.Step();
  EXPECT_EQ(w.inbox.size(), 1u) << "asked, and answered";
  w.Step();
  EXPECT_TRUE(w.inbox.empty()) << "not at once";
  Duration last{};
  for (int i = 0; i < 5; ++i) {
    const Duration wait = *w.next_timer - w.now.mono;
    EXPECT_GE(wait, last);
    last = wait;
    w.Pass(wait);
    w.RunUntilIdle();
  }
  EXPECT_GE(last, std::chrono::milliseconds(400));
}

TEST(Settlements, NobodySaysAgainWhatANewOwnerMadeMoot) {
  World w;
  w.Assign(0);
  AnotherAcquires(w);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_FALSE(w.next_timer);
  EXPECT_EQ(Found(w).starts, 2u) << "the other's is none of ours";
}

TEST(Settlements, ADrainWaitsUntilItsStartsAreSettled) {
  World w;
  w.Assign(0);
  w.owners_away = true;
  w.pusher.StopTaking();
  EXPECT_FALSE(w.pusher.drained()) << "nothing was said yet";
  w.RunUntilIdle();
  EXPECT_FALSE(w.pusher.drained());
  w.owners_away = false;
  PassSteps(w, 1, std::chrono::seconds(10));
  EXPECT_TRUE(w.pusher.drained());
  EXPECT_EQ(Found(w).starts, 0u);
}

TEST(Settlements, ADrainWaitsForTheEpochItAskedFor) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  w.Step();
  auto answer = std::exchange(w.inbox, {});
  w.pusher.StopTaking();
  EXPECT_FALSE(w.pusher.drained());
  w.Step();
  EXPECT_FALSE(w.pusher.drained()) << "it may have been given";
  w.inbox = std::move(answer);
  w.RunUntilIdle();
  EXPECT_TRUE(w.pusher.drained());
  EXPECT_EQ(Found(w).starts, 0u);
}

TEST(Settlements, ADrainDoesNotWaitForAnEpochThatWasNotGiven) {
  World w;
  w.owners_away = true;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  w.Step();  // asked; the refusal is under way
  w.inbox.insert(w.inbox.begin(), PartitionRevoked{0});
  w.pusher.StopTaking();
  w.RunUntilIdle();
  EXPECT_TRUE(w.pusher.drained());
}

TEST(Settlements, ADrainAsksForNoEpoch) {
  World w;
  w.owners_away = true;
  w.Assign(0);
  w.pusher.StopTaking();
  w.inbox.emplace_back(PartitionAssigned{1, 0, 0});
  w.owners_away = false;
  PassSteps(w, 1, std::chrono::seconds(10));
  EXPECT_TRUE(w.pusher.drained());
  EXPECT_EQ(Found(w).starts, 0u);
  EXPECT_EQ(w.mysql.Do(AcquireRange{1, 1}).epoch, 1u);
}

TEST(Settlements, ARangeThatComesBackIsAcquiredOnceItsLastStartIsSettled) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  w.Step();  // asked; the answer is under way
  auto answer = std::exchange(w.inbox, {});
  Revoke(w);
  w.Assign(0);
  EXPECT_EQ(w.metrics.held.ranges_ready, 0u);
  w.inbox = std::move(answer);
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(Found(w).starts, 0u);
}

TEST(Settlements, ARangeThatIsAssignedTwiceIsLeftOnce) {
  World w;
  w.Assign(0);
  w.Assign(0);
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(Found(w).starts, 0u);
}

TEST(Settlements, ARangeThatComesBackWaitsForAShardThatIsAway) {
  World w;
  w.Assign(0);
  w.owners_away = true;
  Revoke(w);
  w.RunUntilIdle();
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  PassSteps(w, 3, std::chrono::seconds(10));
  EXPECT_EQ(w.metrics.held.ranges_ready, 0u);
  w.owners_away = false;
  PassSteps(w, 1, std::chrono::seconds(10));
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_EQ(Found(w).starts, 1u) << "of the owner it has";
}

TEST(Settlements, ARangeLeftWhileItsEpochIsRaisedIsSettledUnderThatEpoch) {
  World w;
  w.Assign(0);
  w.redis.FlushAll();
  w.Pass(std::chrono::seconds(6));
  w.Step();  // saves its position
  w.AnswerTimelines();
  w.Step();  // asked for another epoch
  ASSERT_EQ(w.metrics.takeovers.size(), 2u);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(Found(w).starts, 0u);
}

TEST(Settlements, ACrashOfAnotherBetweenEpochsOfOursIsNotForgiven) {
  World w;
  w.Assign(0);
  const RangeOwned other = AnotherAcquires(w);
  w.mysql.Do(SaveStart{1, 0, other.epoch, 7});
  TakeBack(w, other.epoch);
  Revoke(w);
  w.RunUntilIdle();
  const RangeOwned next = Found(w);
  EXPECT_EQ(next.starts, 1u) << "the other's";
  EXPECT_EQ(next.last_offset, 7);
}

TEST(Settlements, WhoTookItBackAfterCrashesOfOthersGoesOnCarefully) {
  World w;
  w.Assign(0);
  for (int i = 0; i < 2; ++i) AnotherAcquires(w);
  TakeBack(w, w.mysql.Do(RaiseEpoch{1, 0, 0}).epoch);
  for (int i = 0; i < 2; ++i) {
    w.Give(0, Hint::OfPost(i == 0 ? kAnn : kBen, PostId{static_cast<uint64_t>(77 + i)}));
  }
  w.Step();
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 1u);
}

TEST(Settlements, AStartThatAnothersLastingForgaveIsNotTakenBack) {
  World w;
  w.Assign(0);
  const RangeOwned other = AnotherAcquires(w);
  w.mysql.Do(SettleRange{1, 0, other.epoch, 0, -1});  // it lasted
  TakeBack(w, other.epoch);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(Found(w).starts, 0u) << "not below none";
}

TEST(Settlements, AStartThatLastedIsNotTakenBackOnceMore) {
  World w;
  w.Assign(0);
  PassSteps(w, 4, std::chrono::seconds(10));
  const RangeOwned other = AnotherAcquires(w);
  TakeBack(w, other.epoch);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(Found(w).starts, 1u) << "the other's";
}

TEST(Settlements, WhatWasBegunBeforeAnEpochWasRaisedIsNoSuspect) {
  World w;
  for (int i = 0; i < 2; ++i) AnotherAcquires(w);
  w.Assign(0);  // isolating
  w.Give(0, Hint::OfPost(kAnn, PostId{77}));
  w.Step();
  w.Step();
  ASSERT_FALSE(w.truth_calls.empty()) << "begun, and not finished";
  w.redis.FlushAll();
  w.Pass(std::chrono::seconds(6));
  w.RunUntilIdle();
  ASSERT_EQ(w.metrics.takeovers.size(), 2u);
  w.next_offset[0] = 0;
  w.Give(0, Hint::OfPost(kAnn, PostId{77}));
  w.RunUntilIdle();
  EXPECT_TRUE(w.metrics.quarantined.empty()) << "nobody crashed on it";
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(Found(w).last_offset, -1);
}

TEST(OwnStart, WhatWasSettledOfAnEarlierEpochSaysNothing) {
  OwnStart start;
  start.Learn({.id = 1, .status = {}, .epoch = 1, .starts = 4});
  start.Learn({.id = 2, .status = {}, .epoch = 3, .last_offset = 7, .starts = 5});
  start.Settled({.range = 0, .epoch = 1, .starts = 3});
  EXPECT_EQ(start.starts, 5u);
  EXPECT_EQ(start.suspect, 7);
  EXPECT_TRUE(start.counted);
}

}  // namespace
}  // namespace fanline::pusher
