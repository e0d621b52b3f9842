#include "pusher/units/parking.h"

#include <gtest/gtest.h>

namespace fanline::pusher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Backoff kBackoff{milliseconds(100), seconds(1)};
constexpr Time kStart{seconds(100)};
constexpr uint64_t kLongest = UINT64_MAX;  // of the jitter

const Parking::Room kRoom = [](uint64_t) { return true; };

// What Take gives out in a row.
std::vector<uint64_t> All(Parking& parking, Time now) {
  std::vector<uint64_t> units;
  while (const auto unit = parking.Take(now, kRoom)) units.push_back(*unit);
  return units;
}

TEST(Parking, WhatIsAwayIsAskedByOneUnitAtATimeFurtherAndFurtherApart) {
  Parking parking(kBackoff, 8);
  for (uint64_t unit = 1; unit <= 100; ++unit) parking.Park("mysql_1", unit, kStart, 0);
  EXPECT_EQ(All(parking, kStart), std::vector<uint64_t>{});
  EXPECT_EQ(parking.timer(kRoom), kStart + kBackoff.Delay(1, 0));

  Time now = kStart;
  std::vector<Duration> gaps;
  for (uint64_t unit = 1; unit <= 6; ++unit) {
    const Time due = *parking.timer(kRoom);
    gaps.push_back(due - now);
    now = due;
    ASSERT_EQ(All(parking, now), std::vector<uint64_t>{unit});  // who has waited longest
    EXPECT_EQ(parking.timer(kRoom), std::nullopt) << "its answer comes first";
    parking.Park("mysql_1", unit, now, 0);
  }
  EXPECT_EQ(gaps.front(), milliseconds(50));
  EXPECT_EQ(gaps.back(), milliseconds(500));
  EXPECT_EQ(parking.size(), 100u);
}

// Its failure says that the resource is away, not that it still is.
TEST(Parking, AUnitThatNeverWaitedHereDoesNotPutOffTheNextTry) {
  Parking parking(kBackoff, 8);
  parking.Park("mysql_1", 1, kStart, 0);
  const Time due = *parking.timer(kRoom);
  parking.Park("mysql_1", 2, due, 0);
  EXPECT_EQ(All(parking, due), std::vector<uint64_t>{1});
}

TEST(Parking, TheWaitIsJittered) {
  Parking one(kBackoff, 8), other(kBackoff, 8);
  one.Park("redis", 1, kStart, 1);
  other.Park("redis", 1, kStart, 12'345);
  EXPECT_NE(one.timer(kRoom), other.timer(kRoom));
}

TEST(Parking, WhatComesBackIsNotMetByEverybodyAtOnce) {
  Parking parking(kBackoff, 8);
  for (uint64_t unit = 1; unit <= 100; ++unit) parking.Park("mysql_1", unit, kStart, 0);
  const Time now = *parking.timer(kRoom);
  std::vector<size_t> rounds;
  for (auto units = All(parking, now); !units.empty(); units = All(parking, now)) {
    rounds.push_back(units.size());
    for (const uint64_t unit : units) parking.GotThrough(unit);
  }
  const std::vector<size_t> first(rounds.begin(), rounds.begin() + 5);
  EXPECT_EQ(first, (std::vector<size_t>{1, 2, 4, 8, 8}));
  EXPECT_EQ(parking.size(), 0u);
}

TEST(Parking, AFailureOnTheWayBackClosesItAgain) {
  Parking parking(kBackoff, 8);
  for (uint64_t unit = 1; unit <= 100; ++unit) parking.Park("mysql_1", unit, kStart, 0);
  const Time now = *parking.timer(kRoom);
  for (int round = 0; round < 2; ++round) {
    for (const uint64_t unit : All(parking, now)) parking.GotThrough(unit);
  }
  const auto tried = All(parking, now);
  ASSERT_EQ(tried.size(), 4u);
  for (const uint64_t unit : tried) parking.Park("mysql_1", unit, now, 0);
  EXPECT_EQ(All(parking, now), std::vector<uint64_t>{});
  EXPECT_EQ(parking.timer(kRoom), now + kBackoff.Delay(1, 0)) << "what fails together counts once";
  EXPECT_EQ(All(parking, *parking.timer(kRoom)).size(), 1u);
}

TEST(Parking, AUnitThatFailsByItsOwnFaultGoesBehindTheOthers) {
  Parking parking(kBackoff, 8);
  for (uint64_t unit = 1; unit <= 3; ++unit) parking.Park("redis", unit, kStart, 0);
  Time now = *parking.timer(kRoom);
  ASSERT_EQ(parking.Take(now, kRoom), 1u);
  parking.Park("redis", 1, now, 0);
  now = *parking.timer(kRoom);
  ASSERT_EQ(parking.Take(now, kRoom), 2u);
  parking.GotThrough(2);
  EXPECT_EQ(All(parking, now), (std::vector<uint64_t>{3, 1}));
}

TEST(Parking, ResourcesDoNotWaitForEachOther) {
  Parking parking(kBackoff, 8);
  parking.Park("mysql_1", 1, kStart, kLongest);
  parking.Park("redis", 2, kStart + milliseconds(10), 0);
  Time now = kStart + seconds(1);
  ASSERT_EQ(All(parking, now), (std::vector<uint64_t>{1, 2}));
  parking.Park("mysql_1", 1, now, kLongest);
  parking.Park("mysql_1", 2, now, kLongest);  // got past redis, and met the next
  parking.Park("redis", 3, now, kLongest);
  EXPECT_EQ(parking.size(), 3u);
  EXPECT_EQ(All(parking, now + seconds(1)).size(), 2u) << "one for each";
}

TEST(Parking, AUnitWithoutRoomWaitsAndNoOtherResourceWithIt) {
  Parking parking(kBackoff, 8);
  parking.Park("mysql_1", 1, kStart, 0);
  parking.Park("redis", 2, kStart, 0);
  const Time now = kStart + seconds(1);
  const Parking::Room none_for_the_first = [](uint64_t unit) { return unit != 1; };
  EXPECT_EQ(parking.Take(now, none_for_the_first), 2u);
  EXPECT_EQ(parking.Take(now, none_for_the_first), std::nullopt);
  EXPECT_EQ(parking.timer(none_for_the_first), std::nullopt) << "a place that is left comes first";
  EXPECT_EQ(parking.Take(now, kRoom), 1u);
}

TEST(Parking, ForgetsUnitsThatAreNoMore) {
  Parking parking(kBackoff, 8);
  for (uint64_t unit = 1; unit <= 10; ++unit) parking.Park("mysql_1", unit, kStart, 0);
  const Time now = *parking.timer(kRoom);
  ASSERT_EQ(parking.Take(now, kRoom), 1u);
  parking.Forget([](uint64_t unit) { return unit < 10; });
  EXPECT_EQ(parking.size(), 1u);
  EXPECT_EQ(All(parking, now), std::vector<uint64_t>{10}) << "the one under way will not answer";
}

}  // namespace
}  // namespace fanline::pusher
