#include "backends/kafka/lag_marks.h"

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

}  // namespace
}  // namespace fanline::kafka
