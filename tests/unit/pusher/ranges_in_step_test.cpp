// Ranges of one process that stand at different places of their logs still ask MariaDB for the same
// author together.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using Asked = std::vector<std::pair<Range, UserId>>;

constexpr UserId kCid{1003};

// What is asked of the truth, in this order.
Asked AskedNow(const World& w) {
  Asked asked;
  for (const TruthRequest& call : w.truth_calls) {
    const auto& page = std::get<ReadFollowerPage>(call);
    asked.emplace_back(page.range, page.author);
  }
  return asked;
}

struct SomeRanges : World {
  SomeRanges(uint32_t ranges, uint32_t places, uint32_t shards = 1)
      : World({.follower_lists = 0, .units_in_flight = places}, std::make_shared<Stores>(ranges),
              shards) {
    for (Range range = 0; range < static_cast<Range>(ranges); ++range) Assign(range);
  }
  void Wait(Range range, std::initializer_list<UserId> authors) {
    for (const UserId author : authors) Give(range, Hint::OfPost(author, kPost));
  }
};
struct TwoRanges : SomeRanges {
  explicit TwoRanges(uint32_t places) : SomeRanges(2, places) {}
};

TEST(RangesInStep, AnAuthorIsAskedForInAllRangesAtOnceWhereverHeStandsInTheirLogs) {
  TwoRanges w(4);
  w.Wait(1, {kAnn, kBen});  // whose turn it is
  w.Wait(0, {kCid, kBen, kAnn});
  w.Step();
  EXPECT_EQ(AskedNow(w), (Asked{{1, kAnn}, {0, kAnn}, {0, kCid}, {1, kBen}}));

  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 5);
}

TEST(RangesInStep, SoHeIsInTheRangesAbove) {
  TwoRanges w(4);
  w.Wait(1, {kCid});
  w.RunUntilIdle();  // so it is the other's turn
  w.Wait(0, {kAnn, kBen});
  w.Wait(1, {kCid, kBen, kAnn});
  w.Step();
  EXPECT_EQ(AskedNow(w), (Asked{{0, kAnn}, {1, kAnn}, {1, kCid}, {0, kBen}}));
}

// So what looking for an author costs is bounded by the ranges that have him. Range 1 is first.
TEST(RangesInStep, ARangeWithoutTheAuthorEndsTheSearch) {
  SomeRanges above(4, 2);
  above.Wait(1, {kAnn});
  above.Wait(2, {kCid});
  above.Wait(3, {kAnn});
  above.Step();
  EXPECT_EQ(AskedNow(above), (Asked{{1, kAnn}, {2, kCid}}));

  SomeRanges below(4, 3);
  below.Wait(1, {kCid, kAnn});
  below.Wait(3, {kAnn});
  below.Wait(0, {kBen});
  below.Step();
  EXPECT_EQ(AskedNow(below), (Asked{{1, kCid}, {3, kAnn}, {0, kBen}}));
}

// It was just taken over, say, and all others have nothing of what it has.
TEST(RangesInStep, ARangeThatLagsHasAsManyPlacesAsTheOthers) {
  SomeRanges w(8, 16);
  const Range lags = 4;
  for (uint64_t n = 0; n < 100; ++n) {
    for (Range range = 0; range < 8; ++range)
      w.Wait(range, {UserId{n + (range == lags ? 501 : 1)}});
  }
  std::map<Range, int> asked;
  for (int turn = 0; turn < 20; ++turn) {
    w.Step();
    for (const auto& [range, author] : AskedNow(w)) ++asked[range];
    w.AnswerTruth();
    w.now.mono += std::chrono::milliseconds(10);
  }
  for (const auto& [range, units] : asked) EXPECT_NEAR(units, asked[lags], 8) << range;
  EXPECT_GT(asked[lags], 25);
}

TEST(RangesInStep, ARangeThatHadNothingToDoIsOwedNothing) {
  SomeRanges w(4, 16);
  for (uint64_t n = 1; n <= 50; ++n) {
    for (const Range range : {0, 1, 3}) w.Wait(range, {UserId{n}});
  }
  w.RunUntilIdle();
  for (uint64_t n = 1; n <= 50; ++n) {
    for (Range range = 0; range < 4; ++range) w.Wait(range, {UserId{n + (range == 2 ? 501 : 1)}});
  }
  w.Step();
  const Asked asked = AskedNow(w);
  EXPECT_EQ(asked.size(), 16u);
  EXPECT_LE(std::count_if(asked.begin(), asked.end(), [](const auto& at) { return at.first == 2; }),
            6);
}

// All that range 0 has is of a shard that hangs for a while.
TEST(RangesInStep, WhatARangeCouldNotStartItIsOwedUpToAllPlaces) {
  const uint32_t places = 4;
  SomeRanges w(2, places, 2);
  const ShardMap map = ShardMap::Even(2);
  const auto wait = [&](Range range, Shard shard, int authors) {
    for (uint64_t id = range == 0 ? 1 : 2'000'000; authors > 0; ++id) {
      if (map.ShardOf(UserId{id}) != shard) continue;
      w.Wait(range, {UserId{id}});
      --authors;
    }
  };
  wait(0, 1, 100);
  w.Step();
  auto hangs = std::exchange(w.truth_calls, {});
  ASSERT_EQ(hangs.size(), places);
  wait(1, 0, 60);
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 60);

  wait(1, 1, 60);
  w.truth_calls = std::move(hangs);
  std::map<Range, int> asked;
  for (int turn = 0; turn < 6; ++turn) {
    w.AnswerTruth();
    w.Step();
    for (const auto& [range, author] : AskedNow(w)) ++asked[range];
  }
  EXPECT_GT(asked[1], 6) << "of " << asked[0] + asked[1];
}

TEST(RangesInStep, TakeNoPlaceThatIsNotThere) {
  TwoRanges w(1);
  w.Wait(0, {kAnn});
  w.Wait(1, {kAnn});
  w.Step();
  EXPECT_EQ(AskedNow(w).size(), 1u);
}

}  // namespace
}  // namespace fanline::pusher
