// Two pushers that both believe a range is theirs.
#include "pusher/pusher.h"

#include <gtest/gtest.h>

#include "tests/unit/pusher/logged_world.h"

namespace fanline::pusher {
namespace {

using Posts = std::vector<PostId>;

TEST(Pusher, ClaimsAgainAndReplaysWhenAnotherOwnerWasThere) {
  BobsWorld w;
  w.redis.Do(ClaimRange{1, 0, 50});  // somebody with a higher epoch, since gone
  w.Post();
  w.sought.clear();
  w.RunUntilIdle();
  EXPECT_EQ(w.Items(w.bob), Posts{}) << "a fenced write was applied";
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kFenced);
  EXPECT_TRUE(w.sought.empty()) << "taken back before it could be known whose it is";
  EXPECT_EQ(w.metrics.fenced, 1);
  w.RunFor(std::chrono::seconds(2));
  ASSERT_EQ(w.sought.size(), 1u);
  EXPECT_EQ(w.sought.front().offset, 0);

  w.next_offset[0] = 0;
  w.Push(0, Hint::OfPost(kAnn, kPost));
  EXPECT_EQ(w.Items(w.bob), Posts{kPost});
}

// Two pushers that both believe the range is theirs, over one Redis and one MariaDB.
struct Duel {
  LoggedWorld one{Limits{}}, two{Limits{}, one.stores};
  Duel() {
    one.turn = two.turn = std::chrono::milliseconds(10);
    one.Follow(ReaderIn(0), kAnn);
    one.Assign(0);
    one.MakeLive(ReaderIn(0));
    for (uint64_t i = 1; i <= 990; ++i) {
      one.Publish(kAnn, PostId{i}, static_cast<UnixMs>(i));
      one.log.push_back(EncodeHint(Hint::OfPost(kAnn, PostId{i})));
    }
    two.log = one.log;
    two.Assign(0);
  }
  void Run(Duration time) {
    for (Duration done{}; done < time; done += one.turn) {
      one.Run(one.turn);
      two.Run(two.turn);
    }
  }
  size_t takeovers() const { return one.metrics.takeovers.size() + two.metrics.takeovers.size(); }
  int64_t position() const { return one.redis.position(RangeLayout(kRanges).First(0))->offset; }
};

TEST(Pusher, TwoOwnersOfARangeTakeTurnsInsteadOfFighting) {
  Duel d;
  d.Run(std::chrono::seconds(10));
  EXPECT_LT(d.takeovers(), 12u);
  EXPECT_GT(d.position(), 100);
  const size_t before = d.takeovers();
  d.Run(std::chrono::minutes(5));
  EXPECT_LT(d.takeovers() - before, 60u);
  EXPECT_EQ(d.position(), 990) << "neither gets on";
  EXPECT_EQ(d.one.Items(ReaderIn(0)).front(), PostId{990});
  EXPECT_FALSE(d.one.metrics.contests.empty());
  EXPECT_FALSE(d.two.metrics.contests.empty());
}

TEST(Pusher, AZombieThatHearsItLostTheRangeNeverTakesItBack) {
  Duel d;
  d.Run(std::chrono::milliseconds(500));  // the first is fenced, and hears a heartbeat later:
  d.one.inbox.emplace_back(PartitionRevoked{0});
  d.Run(std::chrono::seconds(20));
  EXPECT_EQ(d.one.metrics.takeovers.size(), 2u);
  EXPECT_EQ(d.two.metrics.takeovers.size(), 1u) << "the owner was disturbed";
  EXPECT_EQ(d.position(), 990);
  EXPECT_EQ(d.one.Items(ReaderIn(0)).front(), PostId{990});
}

// It slept on its write; meanwhile another pusher took the post, saw it deleted, and went on.
TEST(Pusher, ALateWriteOfAZombieChangesNothingAndIsCounted) {
  BobsWorld w;
  w.Post();
  w.Step();
  w.AnswerTruth();  // the post is there
  w.Step();
  ASSERT_EQ(w.timeline_calls.size(), 1u) << "no write is under way";
  w.Delete(kAnn, kPost);
  w.redis.Do(ClaimRange{1, 0, 50});

  w.Revoke(0);

  EXPECT_EQ(w.Items(w.bob), Posts{});
  EXPECT_EQ(w.metrics.fenced, 1) << "whoever asked for it is gone, but it was refused";
  EXPECT_EQ(w.metrics.takeovers.size(), 2u) << "what was revoked is not claimed again";
}

// Redis lost the epoch, or the connection was lost: nobody else owns the range.
TEST(Pusher, WhatIsRefusedForWantOfAClaimIsNotFenced) {
  BobsWorld w;
  w.redis.FlushAll();
  w.Post();
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kSessionLost);
  EXPECT_EQ(w.metrics.fenced, 0);
}

TEST(Pusher, WaitsLongerForAnotherOwnerUntilThereIsPeace) {
  World w;
  w.Assign(0);
  uint64_t epoch = 100;
  const auto disturb = [&] {
    w.redis.Do(ClaimRange{1, 0, epoch += 100});
    w.RunFor(std::chrono::seconds(5));  // a save finds it
    const Duration wait = w.metrics.contests.back();
    w.RunFor(wait);
    EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
    return wait;
  };
  const Duration first = disturb(), second = disturb(), third = disturb();
  EXPECT_LE(first, std::chrono::seconds(2));
  EXPECT_GE(second, std::chrono::seconds(2));
  EXPECT_GE(third, std::chrono::seconds(4));
  w.RunFor(std::chrono::seconds(61));
  EXPECT_LE(disturb(), std::chrono::seconds(2));
}

TEST(Pusher, TheHighestEpochOfItsRangesTellsOfEachTakeoverWhoeverMadeIt) {
  World w;
  EXPECT_EQ(w.metrics.held.highest_epoch, 0u);
  w.Assign(0);
  w.Assign(1);
  EXPECT_EQ(w.metrics.held.highest_epoch, 1u);
  w.redis.Do(ClaimRange{1, 0, 50});  // another owner, which had it meanwhile
  w.RunFor(std::chrono::seconds(5));
  w.RunFor(w.metrics.contests.back());
  EXPECT_EQ(w.metrics.held.highest_epoch, 51u);
  w.Revoke(0);
  EXPECT_EQ(w.metrics.held.highest_epoch, 1u);
}

TEST(Pusher, ARedisThatForgotTheOwnerIsNoOtherOwner) {
  World w;
  w.Assign(0);
  w.redis.FlushAll();
  w.RunFor(std::chrono::seconds(5));
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kSessionLost);
  EXPECT_TRUE(w.metrics.contests.empty());
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
}

TEST(Pusher, AZombieStartsNothingOnceItsStartIsRefused) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);  // after two crashes: isolating
  w.Crash(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  w.Step();
  EXPECT_TRUE(w.truth_calls.empty());
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kFenced);
  EXPECT_FALSE(w.Suspected(0, 0));
}

}  // namespace
}  // namespace fanline::pusher
