// The line of costs, as feedctl capacity finds it in runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "feedctl/capacity/followers_file.h"
#include "tests/unit/feedctl/capacity_runs.h"

namespace fanline::feedctl {
namespace {

TEST(Cost, IsALineOfEventsFollowersAndDeliveries) {
  EXPECT_DOUBLE_EQ(CoresOf({1, 2, 3, 5}, {10, 7, 4}), 1 + 20 + 3 * 70 + 5 * 40);
  EXPECT_DOUBLE_EQ(CoresOf({1, 2, 3, 5}, {0, 7, 4}), 1);
}

TEST(Cost, IsFoundInRunsThatFollowIt) {
  const auto found = FitCost(RunsOf(kCost));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->idle, kCost.idle, 1e-6);
  EXPECT_NEAR(found->event, kCost.event, 1e-9);
  EXPECT_NEAR(found->follower, kCost.follower, 1e-10);
  EXPECT_NEAR(found->delivery, kCost.delivery, 1e-10);
}

TEST(Cost, PredictsBetweenRunsThatFollowItNearly) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  for (int round = 0; round < 100; ++round) {
    auto runs = RunsOf(kCost);
    for (MeasuredWork& run : runs) run.cores *= noise(random);
    const auto found = FitCost(runs);
    ASSERT_TRUE(found);
    const Work between{300, 100, 30};
    EXPECT_NEAR(CoresOf(*found, between) / CoresOf(kCost, between), 1, 0.06) << round;
  }
}

TEST(Cost, IsNeverBelowZero) {
  auto runs = RunsOf({0, 0, 0, 10e-6});
  for (size_t i = 0; i < runs.size(); ++i) runs[i].cores *= i % 2 == 0 ? 0.9 : 1.1;
  const auto found = FitCost(runs);
  ASSERT_TRUE(found);
  for (const double part : {found->idle, found->event, found->follower, found->delivery}) {
    EXPECT_GE(part, 0);
  }
  EXPECT_NEAR(found->delivery, 10e-6, 1.5e-6);
}

TEST(Cost, CountsARunOfLittleWorkAsMuchAsAHeavyOne) {
  // By absolute differences the heavy runs alone would decide, and idle would cost several cores.
  auto runs = RunsOf({0.01, 100e-6, 0, 1e-3});
  for (MeasuredWork& run : runs) {
    if (run.work.live > 100) run.cores *= run.work.events_per_s < 500 ? 1.1 : 0.9;
  }
  const auto found = FitCost(runs);
  ASSERT_TRUE(found);
  const Work light{100, 5, 1};
  EXPECT_NEAR(CoresOf(*found, light) / CoresOf({0.01, 100e-6, 0, 1e-3}, light), 1, 0.1);
}

TEST(Cost, IsNotGuessedFromRunsThatDoNotTellItsParts) {
  const auto runs = RunsOf(kCost);
  EXPECT_FALSE(FitCost({}));
  EXPECT_FALSE(FitCost(std::span(runs).first(3)));
  std::vector<MeasuredWork> one_size;
  for (const double rate : {100., 200., 300., 400., 500.}) {
    const Work work{rate, 70, 14};
    one_size.push_back({work, CoresOf(kCost, work)});
  }
  EXPECT_FALSE(FitCost(one_size));
}

TEST(Cost, IsNothingWhereNothingWasSpent) {
  auto runs = RunsOf(kCost);
  for (MeasuredWork& run : runs) run.cores = 0;
  const auto found = FitCost(runs);
  ASSERT_TRUE(found);
  EXPECT_EQ(CoresOf(*found, {1000, 100, 100}), 0);
}

}  // namespace
}  // namespace fanline::feedctl
