// What MariaDB learns of starts that end politely, whatever happens to the requests that say so.
// The next owner counts those that nobody settles as crashes.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

// Owns range 0, at whose earlier starts so many crashed.
struct Owner : World {
  explicit Owner(int crashes = 0) {
    for (int i = 0; i < crashes; ++i) Crash(0);
    Assign(0);
  }
  void RevokeNext() { inbox.insert(inbox.begin(), PartitionRevoked{0}); }
  void Leave() {
    RevokeNext();
    RunUntilIdle();
  }
  void PassSteps(int times, Duration step = std::chrono::seconds(10)) {
    for (int i = 0; i < times; ++i) RunFor(step);
  }
  void ShardIsBack() {
    owners_away = false;
    PassSteps(1);
  }
  // Runs until it, which meets epoch `others` in Redis, has the range again.
  void TakeBack(uint64_t others) {
    redis.Do(ClaimRange{1, 0, others});
    PassSteps(40, std::chrono::milliseconds(500));
    ASSERT_EQ(metrics.held.ranges_ready, 1u);
    ASSERT_EQ(metrics.takeovers.back(), TakeoverCause::kFenced);
  }
  // Of one author each.
  void GiveTwoPosts() {
    Give(0, Hint::OfPost(kAnn, PostId{77}));
    Give(0, Hint::OfPost(kBen, PostId{78}));
  }
};

TEST(Settlements, ARangeLeftWhileItsShardIsAwayIsSettledLater) {
  Owner w;
  w.owners_away = true;
  w.RevokeNext();
  w.PassSteps(3);
  ASSERT_TRUE(w.next_timer);
  w.ShardIsBack();
  EXPECT_FALSE(w.next_timer);
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Settlements, WhatIsSaidInVainIsSaidAgainFurtherAndFurtherApart) {
  Owner w;
  w.owners_away = true;
  w.RevokeNext();
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
  Owner w(1);
  w.Crash(0, 7);
  w.Leave();
  EXPECT_FALSE(w.next_timer);
  EXPECT_EQ(w.Crashes(0), 2u) << "the others' are none of ours";
  EXPECT_TRUE(w.Suspected(0, 7));
}

TEST(Settlements, AnOwnerThatLastedSaysSoLateAndForgivesNoneThatCameAfter) {
  Owner w(1);
  w.owners_away = true;
  w.PassSteps(4);
  w.Crash(0);
  w.ShardIsBack();
  EXPECT_EQ(w.Crashes(0), 2u) << "and its own is under way";
}

TEST(Settlements, AnOwnerThatLastedForgivesThoseBeforeItAlsoInItsLastWord) {
  Owner w(1);
  w.owners_away = true;
  w.PassSteps(4);
  w.RevokeNext();
  w.PassSteps(1);
  ASSERT_EQ(w.Crashes(0), 2u) << "nothing was heard of it";
  w.ShardIsBack();
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Settlements, ADrainWaitsUntilItsStartsAreSettled) {
  Owner w;
  w.owners_away = true;
  w.pusher.StopTaking();
  EXPECT_FALSE(w.pusher.drained()) << "nothing was said yet";
  w.RunUntilIdle();
  EXPECT_FALSE(w.pusher.drained());
  w.ShardIsBack();
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
  for (int i = 0; i < 2; ++i) w.RunFor(std::chrono::seconds(1));
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
  w.RunFor(std::chrono::seconds(10));
  EXPECT_TRUE(w.pusher.drained());
  EXPECT_EQ(w.Crashes(0), 0u);
  EXPECT_EQ(w.Crash(1).epoch, 1u);
}

TEST(Settlements, ARangeThatComesBackIsAcquiredOnceItsLastStartIsSettled) {
  Owner w;
  w.RevokeNext();
  w.Step();  // told; the answer is under way
  auto answer = std::exchange(w.inbox, {});
  w.Assign(0);
  EXPECT_EQ(w.metrics.held.ranges_ready, 0u);
  w.inbox = std::move(answer);
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  w.Leave();
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Settlements, ARangeThatIsAssignedTwiceIsLeftOnce) {
  Owner w;
  w.Assign(0);
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  w.Leave();
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Settlements, ARangeThatComesBackWaitsForAShardThatIsAway) {
  Owner w;
  w.owners_away = true;
  w.Leave();
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  w.PassSteps(3);
  EXPECT_EQ(w.metrics.held.ranges_ready, 0u);
  w.ShardIsBack();
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_EQ(w.Crashes(0), 1u) << "of the owner it has, under way";
}

TEST(Settlements, ARangeLeftWhileItsEpochIsRaisedIsSettled) {
  Owner w;
  w.redis.FlushAll();
  w.Pass(std::chrono::seconds(6));
  w.Step();  // saves its position
  w.AnswerTimelines();
  w.Step();  // asked for another epoch
  ASSERT_EQ(w.metrics.takeovers.size(), 2u);
  w.Leave();
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Settlements, ACrashOfAnotherBetweenEpochsOfOursIsNotForgiven) {
  Owner w(1);
  w.TakeBack(w.Crash(0, 7).epoch);
  w.Leave();
  EXPECT_EQ(w.Crashes(0), 2u) << "the others'";
  EXPECT_TRUE(w.Suspected(0, 7));
}

TEST(Settlements, WhoTookItBackAfterCrashesOfOthersGoesOnCarefully) {
  Owner w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.TakeBack(w.mysql.Do(RaiseEpoch{1, 0, 0}).epoch);
  w.GiveTwoPosts();
  w.Step();
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 1u);
}

// Its own start does not count against it, whatever epoch it has.
TEST(Settlements, WhoTookItBackAfterACrashOfAnotherGoesOnAsEver) {
  Owner w;
  w.TakeBack(w.Crash(0).epoch);
  w.GiveTwoPosts();
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 2u);
}

TEST(Settlements, WhoLastsForgivesThoseThatWereThereBetweenItsEpochs) {
  Owner w;
  w.TakeBack(w.Crash(0).epoch);
  w.PassSteps(4);
  EXPECT_EQ(w.Crashes(0), 1u) << "its own, under way";
}

TEST(Settlements, WhatWasBegunBeforeAnEpochWasRaisedIsNoSuspect) {
  Owner w(3);  // isolating
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
