// Starts that end without a word: the hint that crashes pushers is found and blamed, no other.
#include "pusher/pusher.h"

#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

TEST(Pusher, GoesOnCarefullyAfterTwoCrashesAndQuarantinesTheThirdTime) {
  const UserId bob = ReaderIn(0);
  World w;
  w.Follow(bob, kAnn);
  w.Publish(kAnn, kPost, 1'000);
  w.Publish(kAnn, PostId{78}, 1'001);
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Crash(0, 0);
  w.Assign(0);
  w.MakeLive(bob);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Push(0, Hint::OfPost(kAnn, PostId{78}));
  w.RunFor(Limits{}.last_words);

  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.letters.front().record.offset, 0);
  EXPECT_EQ(w.metrics.done, 2);
  EXPECT_FALSE(w.IsLive(bob));
  EXPECT_EQ(w.Crashes(0), 4u) << "not settled yet";
}

// The shard was away when it was told to go, and is back.
TEST(Pusher, BlamesNoHintOfAnOwnerThatSaysSoonEnoughThatItWasToldToGo) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  World told_to_go(Limits{}, w.stores);
  told_to_go.Assign(0);
  told_to_go.Give(0, Hint::OfPost(kAnn, kPost));
  for (int i = 0; i < 3; ++i) told_to_go.Step();
  ASSERT_TRUE(w.Suspected(0, 0));
  told_to_go.owners_away = true;
  told_to_go.Revoke(0);

  w.Assign(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.RunFor(Limits{}.last_words - std::chrono::seconds(1));
  EXPECT_EQ(w.metrics.done, 0);
  told_to_go.owners_away = false;
  told_to_go.RunFor(std::chrono::seconds(1));
  w.RunFor(std::chrono::seconds(2));

  EXPECT_EQ(w.metrics.done, 1);
  EXPECT_TRUE(w.metrics.quarantined.empty());
}

TEST(Pusher, AHintThatWasTriedAloneIsNotBlamedForLessThanThreeCrashes) {
  World w;
  const uint64_t told_to_go = w.Crash(0).id;
  w.Crash(0);
  w.Crash(0, 0);
  w.mysql.Do(SettleRange{1, 0, told_to_go});
  ASSERT_TRUE(w.Suspected(0, 0));
  w.Assign(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.RunFor(std::chrono::seconds(10));
  EXPECT_EQ(w.metrics.done, 1);
  EXPECT_TRUE(w.metrics.quarantined.empty());
}

TEST(Pusher, GoesOnAsEverOnceItHearsThatThereWereNoCrashes) {
  World w;
  World told_to_go(Limits{}, w.stores);
  told_to_go.Assign(0);
  told_to_go.owners_away = true;
  told_to_go.Revoke(0);
  w.Crash(0);
  w.Assign(0);
  told_to_go.owners_away = false;
  told_to_go.RunFor(std::chrono::seconds(1));
  for (int i = 0; i < 3; ++i)
    w.Give(0, Hint::OfPost(UserId{4711u + static_cast<uint64_t>(i)}, kPost));
  for (int i = 0; i < 3; ++i) w.Step();
  EXPECT_EQ(w.truth_calls.size(), 3u) << "it heard with the first";
}

TEST(Pusher, IsolatesOneHintOfAllItsRangesAndBlamesNoneThatIsDone) {
  World w;
  for (const Range range : {0, 1}) {
    for (int i = 0; i < 2; ++i) w.Crash(range);
    w.Assign(range);  // after two crashes
  }
  for (const Range range : {0, 1}) w.Give(range, Hint::OfPost(kAnn, kPost));
  for (int i = 0; i < 4; ++i) w.Step();
  EXPECT_EQ(w.truth_calls.size(), 1u) << "a crash must be the fault of one";
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 2);
  for (const Range range : {0, 1}) {
    EXPECT_EQ(w.Crashes(range), 3u) << "not settled yet";
    EXPECT_FALSE(w.Suspected(range, 0));
  }
}

TEST(Pusher, AStartThatLastedForgivesThoseBeforeAndMayStillCrash) {
  World w;
  w.Crash(0);
  w.Assign(0);
  w.RunFor(std::chrono::seconds(31));
  EXPECT_EQ(w.Crashes(0), 1u) << "its own, under way";
  w.Revoke(0);
  EXPECT_EQ(w.Crashes(0), 0u);
}

// The hint comes when its range has long had its owner.
TEST(Pusher, AHintIsQuarantinedByItsThirdCrashHoweverLongTheFirstOwnerLasted) {
  const auto stores = std::make_shared<Stores>();
  for (int crash = 1; crash <= 3; ++crash) {
    World crashing(Limits{}, stores);
    crashing.Assign(0);
    if (crash == 1) crashing.RunFor(std::chrono::seconds(31));
    crashing.Give(0, Hint::OfPost(kAnn, kPost));
    for (int i = 0; i < 3; ++i) crashing.Step();
    ASSERT_FALSE(crashing.truth_calls.empty()) << "it is begun";
  }
  World w(Limits{}, stores);
  w.Assign(0);
  w.Push(0, Hint::OfPost(kAnn, kPost));
  w.RunFor(Limits{}.last_words);
  EXPECT_EQ(w.letters.size(), 1u);
}

// Once its start has lasted, others are tried beside it.
TEST(Pusher, AHintThatWaitsSinceItWasTriedAloneIsNoSuspectForEver) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  for (int i = 0; i < 3; ++i) w.Step();
  ASSERT_TRUE(w.Suspected(0, 0));
  w.Pass(std::chrono::seconds(31));
  for (int i = 0; i < 2; ++i) w.Step();
  EXPECT_FALSE(w.truth_calls.empty()) << "it is still under way";
  EXPECT_FALSE(w.Suspected(0, 0));
}

TEST(Pusher, GoesOnAsEverOnceAStartHasLasted) {
  World w({.follower_lists = 0});
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);  // after two crashes
  const auto begun = [&] {
    w.Give(0, Hint::OfPost(kAnn, kPost));
    w.Give(0, Hint::OfPost(UserId{4711}, kPost));
    for (int i = 0; i < 3; ++i) w.Step();
    return w.truth_calls.size();
  };
  EXPECT_EQ(begun(), 1u) << "isolating";
  w.RunUntilIdle();
  w.RunFor(std::chrono::seconds(31));
  EXPECT_EQ(begun(), 2u);
}

TEST(Pusher, BeingToldToGoIsNoCrash) {
  World w;
  for (int i = 0; i < 5; ++i) {  // rebalances, one after the other
    w.Assign(0);
    w.Revoke(0);
  }
  EXPECT_EQ(w.Crashes(0), 0u);
}

// Restarted again and again while Redis is away; a process that dies there says nothing.
TEST(Pusher, LeavingBeforeARangeIsReadyIsNoCrash) {
  for (const bool stopped : {true, false}) {
    World w;
    for (int i = 0; i < 5; ++i) {
      World leaving(Limits{}, w.stores);
      leaving.inbox.emplace_back(PartitionAssigned{0, 0, 0});
      leaving.Step();
      leaving.Step();
      ASSERT_FALSE(leaving.timeline_calls.empty()) << "claimed, and not answered";
      if (stopped) leaving.pusher.StopTaking();
      leaving.Step();
    }
    EXPECT_EQ(w.Crashes(0), stopped ? 0u : 5u);
  }
}

// A fleet that dies of one hint: each process that comes back takes the range from an owner that
// has not met the hint yet.
TEST(Pusher, BeingToldToGoForgivesNoCrashOfOthers) {
  World w;
  for (int i = 0; i < 2; ++i) {
    World crashing(Limits{}, w.stores);
    crashing.Assign(0);
    World leaving(Limits{}, w.stores);
    leaving.Assign(0);
    leaving.Revoke(0);
    World gone_early(Limits{}, w.stores);
    gone_early.inbox.emplace_back(PartitionAssigned{0, 0, 0});
    gone_early.Step();
    gone_early.inbox.insert(gone_early.inbox.begin(), PartitionRevoked{0});
    gone_early.RunUntilIdle();
  }
  EXPECT_EQ(w.Crashes(0), 2u);
  w.Crash(0, 5);
  World leaving(Limits{}, w.stores);
  leaving.Assign(0);
  leaving.Revoke(0);
  EXPECT_EQ(w.Crashes(0), 3u);
  EXPECT_TRUE(w.Suspected(0, 5));
}

TEST(Pusher, WhatWasBegunWhenToldToGoIsNoSuspect) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);  // isolating
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  w.Step();
  ASSERT_FALSE(w.truth_calls.empty()) << "begun, and not finished";
  w.Revoke(0);
  EXPECT_EQ(w.Crashes(0), 2u);
  EXPECT_FALSE(w.Suspected(0, 0));
}

TEST(Pusher, TakesNoStartBackThatItCouldNotMake) {
  World w;
  w.owners_away = true;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  for (int i = 0; i < 2; ++i) w.Step();
  w.owners_away = false;
  w.Revoke(0);
  EXPECT_EQ(w.Crashes(0), 0u);
}

}  // namespace
}  // namespace fanline::pusher
