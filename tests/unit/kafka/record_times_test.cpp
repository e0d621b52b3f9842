#include "backends/kafka/record_times.h"

#include <gtest/gtest.h>

namespace fanline::kafka {
namespace {

TEST(LagMarks, NothingBehindIsNoAge) {
  LagMarks marks;
  EXPECT_EQ(marks.Since(0, 1000), 1000);
  marks.Existed(10, 500);
  EXPECT_EQ(marks.Since(10, 1000), 1000);
}

TEST(LagMarks, CountsFromTheFirstLookThatSawTheRecord) {
  LagMarks marks;
  marks.Existed(10, 500);
  marks.Existed(10, 600);  // nothing new
  marks.Existed(15, 700);
  EXPECT_EQ(marks.Since(9, 1000), 500);
  EXPECT_EQ(marks.Since(10, 1000), 700);
  EXPECT_EQ(marks.Since(14, 1000), 700);
  EXPECT_EQ(marks.Since(15, 1000), 1000);
}

TEST(LagMarks, ATimestampOlderThanTheFirstLookCounts) {
  LagMarks marks;
  marks.Existed(100, 500'000);
  for (int64_t offset = 0; offset < 50; ++offset) marks.Existed(offset + 1, 1000 + offset);
  EXPECT_EQ(marks.Since(20, 600'000), 1020);
  EXPECT_EQ(marks.Since(50, 600'000), 500'000);
}

TEST(LagMarks, ARecordWithoutATimestampSaysNothing) {
  LagMarks marks;
  marks.Existed(10, 500);
  marks.Existed(11, 0);
  EXPECT_EQ(marks.Since(0, 1000), 500);
  EXPECT_EQ(marks.Since(10, 1000), 1000);
}

TEST(LagMarks, AClockThatIsAheadMakesNoNegativeAge) {
  LagMarks marks;
  marks.Existed(10, 5000);
  EXPECT_EQ(marks.Since(5, 1000), 1000);
}

// A position that stands still: the age goes on growing, however much comes behind it.
TEST(LagMarks, RemembersTheOldestIsBoundedAndStaysALowerBound) {
  LagMarks marks;
  for (int64_t i = 1; i <= 100'000; ++i) marks.Existed(i, i);
  EXPECT_EQ(marks.Since(0, 200'000), 1);
  for (int64_t at = 1; at < 100'000; at += 997) {
    const UnixMs since = marks.Since(at, 200'000);
    EXPECT_GT(since, at);
    EXPECT_TRUE(since < 100'000 || at > 50'000) << at;
  }
}

// ---- when it was read -----------------------------------------------------------------------

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
