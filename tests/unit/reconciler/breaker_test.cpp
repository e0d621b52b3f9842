#include "reconciler/breaker.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/unit/seeded.h"

namespace fanline::reconciler {
namespace {

using namespace std::chrono_literals;

int Allowed(Breaker& breaker, int wanted, Time now) {
  int allowed = 0;
  for (int i = 0; i < wanted; ++i) allowed += breaker.Allows(now) ? 1 : 0;
  return allowed;
}

TEST(Breaker, OpensAboveItsLimitAndStaysOpen) {
  Breaker breaker({.removals_per_minute = 10});
  EXPECT_EQ(Allowed(breaker, 10, Time{1h}), 10);
  EXPECT_FALSE(breaker.open());
  EXPECT_EQ(Allowed(breaker, 1, Time{1h}), 0);
  EXPECT_TRUE(breaker.open());
  EXPECT_EQ(Allowed(breaker, 1, Time{24h}), 0) << "closed by itself";
}

TEST(Breaker, ClosedByAnOperatorItStillCountsTheLastMinute) {
  Breaker breaker({.removals_per_minute = 10});
  EXPECT_EQ(Allowed(breaker, 11, Time{1h}), 10);
  breaker.Close();
  EXPECT_EQ(Allowed(breaker, 1, Time{1h + 59s}), 0);
  breaker.Close();
  EXPECT_EQ(Allowed(breaker, 10, Time{1h + 61s}), 10);
}

TEST(Breaker, AWipedShardLosesNoMoreThanTheLimit) {
  Breaker breaker;
  int removed = 0;
  for (Time now{1h}; now < Time{2h}; now += 100ms) removed += Allowed(breaker, 100, now);
  EXPECT_EQ(removed, 1'000);
}

TEST(Breaker, NoMinuteEverHasMoreThanTheLimitAndASlowerPaceNeverOpensIt) {
  fanline::testing::Seeded random;
  Breaker fast({.removals_per_minute = 20}), slow({.removals_per_minute = 20});
  std::deque<Time> removals;
  Time now{1h};
  for (int step = 0; step < 50'000; ++step) {
    now += Duration(random.Below(6'000'000));
    if (fast.Allows(now)) {
      removals.push_back(now);
    } else {
      fast.Close();
    }
    while (removals.front() <= now - 1min) removals.pop_front();
    ASSERT_LE(removals.size(), 20u);
  }
  for (int step = 0; step < 2'000; ++step, now += 3'100ms) ASSERT_TRUE(slow.Allows(now)) << step;
}

}  // namespace
}  // namespace fanline::reconciler
