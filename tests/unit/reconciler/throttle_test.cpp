#include "fanline/base/throttle.h"

#include <gtest/gtest.h>

#include "tests/unit/seeded.h"

namespace fanline::reconciler {
namespace {

using namespace std::chrono_literals;

int Taken(Throttle& throttle, int wanted, Time now) {
  int taken = 0;
  for (int i = 0; i < wanted; ++i) taken += throttle.Take(now) ? 1 : 0;
  return taken;
}

TEST(Throttle, LetsABurstPassAndThenItsRate) {
  Throttle throttle(10, 5);
  const Time start{1h};
  EXPECT_EQ(Taken(throttle, 100, start), 5);
  EXPECT_EQ(Taken(throttle, 100, start + 99ms), 0);
  EXPECT_EQ(Taken(throttle, 100, start + 100ms), 1);
  EXPECT_EQ(Taken(throttle, 100, start + 400ms), 3);
}

TEST(Throttle, ARestFillsItToItsBurstAndNoFurther) {
  Throttle throttle(10, 5);
  EXPECT_EQ(Taken(throttle, 100, Time{1h}), 5);
  EXPECT_EQ(Taken(throttle, 100, Time{2h}), 5);
}

TEST(Throttle, AClockThatGoesBackTakesNothingAway) {
  Throttle throttle(10, 5);
  EXPECT_EQ(Taken(throttle, 1, Time{1h}), 1);
  EXPECT_EQ(Taken(throttle, 100, Time{1h} - 10s), 4);
  EXPECT_EQ(Taken(throttle, 100, Time{1h}), 0);
}

TEST(Throttle, SaysWhenTheNextOneMayBeTaken) {
  fanline::testing::Seeded random;
  Throttle throttle(7, 3);
  Time now{1h};
  EXPECT_EQ(throttle.Next(now), now);
  for (int i = 0; i < 10'000; ++i) {
    Taken(throttle, 10, now);
    const Time next = throttle.Next(now);
    ASSERT_GT(next, now);
    ASSERT_FALSE(throttle.Take(next - 1us));
    ASSERT_TRUE(throttle.Take(next));
    now = next + Duration(random.Below(2'000'000));
  }
}

}  // namespace
}  // namespace fanline::reconciler
