#include "backends/kafka/read_times.h"

#include <gtest/gtest.h>

namespace fanline::kafka {
namespace {

constexpr UnixMs kNow = 1'000'000'000;

TEST(ReadTimes, NothingReadIsNotKnown) {
  ReadTimes times;
  EXPECT_EQ(times.Below(10), std::nullopt);
  times.Add(11, 5'000, kNow);
  EXPECT_EQ(times.Below(10), std::nullopt);
}

TEST(ReadTimes, APositionIsAsOldAsTheLastRecordBelowIt) {
  ReadTimes times;
  times.Add(1, 5'000, kNow);
  times.Add(2, 9'000, kNow);
  times.Add(3, 20'000, kNow);
  EXPECT_EQ(times.Below(1), 5'000);
  EXPECT_EQ(times.Below(2), 9'000);
  EXPECT_EQ(times.Below(50), 20'000);
  EXPECT_EQ(times.Below(2), std::nullopt) << "a position moves on";
}

TEST(ReadTimes, WithinASecondTheEarlierTimeStands) {
  ReadTimes times;
  for (int64_t end = 1; end <= 10; ++end) times.Add(end, 5'000 + end, kNow);
  EXPECT_EQ(times.Below(10), 5'001);
}

// A producer whose clock is behind: more is read again, and nothing is left out.
TEST(ReadTimes, ATimeThatGoesBackCounts) {
  ReadTimes times;
  times.Add(1, 9'000, kNow);
  times.Add(2, 5'000, kNow);
  EXPECT_EQ(times.Below(2), 5'000);
}

TEST(ReadTimes, ATimeAheadOfOurClockIsNow) {
  ReadTimes times;
  times.Add(1, 2 * kNow, kNow);
  EXPECT_EQ(times.Below(1), kNow);
}

TEST(ReadTimes, WhatWasReadBeforeASeekBackIsForgotten) {
  ReadTimes times;
  times.Add(10, 5'000, kNow);
  times.Add(20, 9'000, kNow);
  times.Add(15, 7'000, kNow);
  EXPECT_EQ(times.Below(30), 7'000);
}

TEST(ReadTimes, AnUnknownTimeSaysNothing) {
  ReadTimes times;
  times.Add(10, 5'000, kNow);
  times.Add(11, -1, kNow);
  EXPECT_EQ(times.Below(11), 5'000);
}

// A partition whose commits stand still while it is read on for a day.
TEST(ReadTimes, IsBoundedAndNeverTooYoung) {
  ReadTimes times;
  for (int64_t end = 1; end <= 100'000; ++end) times.Add(end, 1'000 * end, kNow);
  const auto at = times.Below(60'000);
  ASSERT_TRUE(at);
  EXPECT_LE(*at, 60'000'000);
  EXPECT_GT(*at, 59'000'000);
}

}  // namespace
}  // namespace fanline::kafka
