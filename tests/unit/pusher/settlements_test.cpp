// What MariaDB learns of starts that end politely, whatever happens to the requests that say so.
// The next owner counts those that nobody settles as crashes.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

void Revoke(World& w) { w.inbox.insert(w.inbox.begin(), PartitionRevoked{0}); }

void PassSteps(World& w, int times, Duration step) {
  for (int i = 0; i < times; ++i) w.RunFor(step);
}

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
  EXPECT_EQ(w.Crashes(0), 0u);
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
  for (int i = 0; i < 4; ++i) {
    const Duration wait = *w.next_timer - w.now.mono;
    EXPECT_GE(wait, last);
    last = wait;
    w.RunFor(wait);
  }
  EXPECT_GE(last, std::chrono::milliseconds(200));
}

TEST(Settlements, WhoHearsLateThatTheRangeIsAnothersSettlesItsOwnStartAlone) {
  World w;
  w.Crash(0);
  w.Assign(0);
  w.Crash(0, 7);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_FALSE(w.next_timer);
  EXPECT_EQ(w.Crashes(0), 2u) << "the others' are none of ours";
  EXPECT_TRUE(w.Suspected(0, 7));
}

TEST(Settlements, AnOwnerThatLastedSaysSoLateAndForgivesNoneThatCameAfter) {
  World w;
  w.Crash(0);
  w.Assign(0);
  w.owners_away = true;
  PassSteps(w, 4, std::chrono::seconds(10));
  w.Crash(0);
  w.owners_away = false;
  PassSteps(w, 1, std::chrono::seconds(10));
  EXPECT_EQ(w.Crashes(0), 2u) << "and its own is under way";
}

TEST(Settlements, AnOwnerThatLastedForgivesThoseBeforeItAlsoInItsLastWord) {
  World w;
  w.Crash(0);
  w.Assign(0);
  w.owners_away = true;
  PassSteps(w, 4, std::chrono::seconds(10));
  Revoke(w);
  PassSteps(w, 1, std::chrono::seconds(10));
  ASSERT_EQ(w.Crashes(0), 2u) << "nothing was heard of it";
  w.owners_away = false;
  PassSteps(w, 1, std::chrono::seconds(10));
  EXPECT_EQ(w.Crashes(0), 0u);
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
  EXPECT_EQ(w.Crashes(0), 0u);
}

// The answer was lost with the connection: the start may have been noted.
TEST(Settlements, ADrainSettlesAStartOfWhichItNeverHeard) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  w.Step();
  EXPECT_EQ(w.Crashes(0), 1u);
  w.inbox.clear();
  w.pusher.StopTaking();
  w.Step();
  EXPECT_FALSE(w.pusher.drained());
  w.RunUntilIdle();
  EXPECT_TRUE(w.pusher.drained());
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Settlements, AStartWhoseAnswerWasLostIsNotedOnce) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  w.Step();
  ASSERT_EQ(w.inbox.size(), 1u);
  w.inbox.clear();
  w.inbox.emplace_back(RangeOwned{.id = 1, .status = Status::Later("mysql_0", "lost")});
  PassSteps(w, 2, std::chrono::seconds(1));
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_EQ(w.Crashes(0), 1u) << "under way";
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
  EXPECT_EQ(w.Crashes(0), 0u);
  EXPECT_EQ(w.Crash(1).epoch, 1u);
}

TEST(Settlements, ARangeThatComesBackIsAcquiredOnceItsLastStartIsSettled) {
  World w;
  w.Assign(0);
  Revoke(w);
  w.Step();  // told; the answer is under way
  auto answer = std::exchange(w.inbox, {});
  w.Assign(0);
  EXPECT_EQ(w.metrics.held.ranges_ready, 0u);
  w.inbox = std::move(answer);
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Settlements, ARangeThatIsAssignedTwiceIsLeftOnce) {
  World w;
  w.Assign(0);
  w.Assign(0);
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 0u);
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
  EXPECT_EQ(w.Crashes(0), 1u) << "of the owner it has, under way";
}

TEST(Settlements, ARangeLeftWhileItsEpochIsRaisedIsSettled) {
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
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Settlements, ACrashOfAnotherBetweenEpochsOfOursIsNotForgiven) {
  World w;
  w.Crash(0);
  w.Assign(0);
  TakeBack(w, w.Crash(0, 7).epoch);
  Revoke(w);
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 2u) << "the others'";
  EXPECT_TRUE(w.Suspected(0, 7));
}

TEST(Settlements, WhoTookItBackAfterCrashesOfOthersGoesOnCarefully) {
  World w;
  w.Assign(0);
  for (int i = 0; i < 2; ++i) w.Crash(0);
  TakeBack(w, w.mysql.Do(RaiseEpoch{1, 0, 0}).epoch);
  for (int i = 0; i < 2; ++i) {
    w.Give(0, Hint::OfPost(i == 0 ? kAnn : kBen, PostId{static_cast<uint64_t>(77 + i)}));
  }
  w.Step();
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 1u);
}

// Its own start does not count against it, whatever epoch it has.
TEST(Settlements, WhoTookItBackAfterACrashOfAnotherGoesOnAsEver) {
  World w;
  w.Assign(0);
  TakeBack(w, w.Crash(0).epoch);
  for (int i = 0; i < 2; ++i) {
    w.Give(0, Hint::OfPost(i == 0 ? kAnn : kBen, PostId{static_cast<uint64_t>(77 + i)}));
  }
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 2u);
}

TEST(Settlements, WhoLastsForgivesThoseThatWereThereBetweenItsEpochs) {
  World w;
  w.Assign(0);
  TakeBack(w, w.Crash(0).epoch);
  PassSteps(w, 4, std::chrono::seconds(10));
  EXPECT_EQ(w.Crashes(0), 1u) << "its own, under way";
}

TEST(Settlements, WhatWasBegunBeforeAnEpochWasRaisedIsNoSuspect) {
  World w;
  for (int i = 0; i < 3; ++i) w.Crash(0);
  w.Assign(0);  // isolating
  w.Give(0, Hint::OfPost(kAnn, PostId{77}));
  w.Step();
  w.Step();
  ASSERT_FALSE(w.truth_calls.empty()) << "begun, and not finished";
  w.redis.FlushAll();
  w.RunFor(std::chrono::seconds(6));
  ASSERT_EQ(w.metrics.takeovers.size(), 2u);
  EXPECT_FALSE(w.Suspected(0, 0));
  w.next_offset[0] = 0;
  w.Give(0, Hint::OfPost(kAnn, PostId{77}));
  w.Step();
  EXPECT_TRUE(w.Suspected(0, 0)) << "begun again";
  w.RunUntilIdle();
  EXPECT_TRUE(w.metrics.quarantined.empty()) << "nobody crashed on it";
}

}  // namespace
}  // namespace fanline::pusher
