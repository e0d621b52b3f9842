// The plan that feedctl capacity prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "feedctl/capacity/followers_file.h"
#include "feedctl/capacity/plan.h"
#include "tests/unit/feedctl/capacity_runs.h"

namespace fanline::feedctl {
namespace {

Constants Measured() {
  Constants measured{.machine = "a machine",
                     .cores = 2,
                     .ranges = 16,
                     .timeline_bytes = 10'000,
                     .timeline_items = 450};
  measured.costs["redis"] = {0.05, 20e-6, 0.5e-6, 8e-6};
  measured.costs["pusher"] = {0.05, 30e-6, 1e-6, 1e-6};
  measured.lags = {{{100, 200, 40}, {0.10, 0.20}}, {{600, 200, 40}, {0.20, 0.60}}};
  return measured;
}

Demand Wanted() {
  Demand demand{.users = 1e6, .live_ratio = 0.2, .live_followers_ratio = 0.5, .posts_per_s = 300};
  demand.audience = {50, 100, 1e5};
  return demand;
}

TEST(Plan, HoldsTheTimelinesOfTheLiveBetweenWindowAndTrim) {
  const Plan plan = PlanFor(Wanted(), Measured());
  EXPECT_DOUBLE_EQ(plan.live_timelines, 200'000);
  const WindowLimits window;
  const double items = (window.window + window.trim_above() - 2) / 2.0;
  EXPECT_DOUBLE_EQ(plan.bytes_per_timeline, 10'000 * items / 450);
  EXPECT_DOUBLE_EQ(plan.redis_bytes, 200'000 * plan.bytes_per_timeline);
}

TEST(Plan, CountsWorkByTheFollowersOfPosts) {
  const Plan plan = PlanFor(Wanted(), Measured());
  EXPECT_DOUBLE_EQ(plan.work.followers, 100);
  EXPECT_DOUBLE_EQ(plan.work.live, 50);
  EXPECT_DOUBLE_EQ(plan.deliveries_per_s, 300 * 50);
  EXPECT_DOUBLE_EQ(plan.hints_per_s, 300 * 16);
  const Constants measured = Measured();
  EXPECT_DOUBLE_EQ(plan.busy.at("redis"), CoresOf(measured.costs.at("redis"), plan.work));
  EXPECT_DOUBLE_EQ(plan.busy_cores, plan.busy.at("redis") + plan.busy.at("pusher"));
}

TEST(Plan, AsksForCoresOfWhichNoMoreAreBusyThanWasSaid) {
  Demand demand = Wanted();
  demand.load = 0.1;
  const Plan plan = PlanFor(demand, Measured());
  EXPECT_DOUBLE_EQ(plan.cores, std::ceil(plan.busy_cores / 0.1));
  demand.cores = 3;
  EXPECT_DOUBLE_EQ(PlanFor(demand, Measured()).cores, 3);
}

TEST(Plan, NeedsACoreEvenForNothing) {
  Constants idle = Measured();
  for (auto& [process, cost] : idle.costs) cost = {};
  const Plan plan = PlanFor(Wanted(), idle);
  EXPECT_EQ(plan.cores, 1);
  EXPECT_EQ(plan.masters, 1u);
  EXPECT_TRUE(plan.lag);
}

TEST(Plan, GivesEachMasterOneCore) {
  Demand demand = Wanted();
  EXPECT_EQ(PlanFor(demand, Measured()).masters, 1u);
  demand.posts_per_s = 30'000;  // about 15 cores of Redis
  const Plan plan = PlanFor(demand, Measured());
  const double redis = plan.busy.at("redis");  // with that many ranges
  EXPECT_GT(redis, 1.1 * CoresOf(Measured().costs.at("redis"), plan.work));
  EXPECT_EQ(plan.masters, static_cast<uint32_t>(std::ceil(redis / demand.load)));
  EXPECT_GE(plan.ranges, 8 * plan.masters);
  demand.ranges = 1024;  // said, so more masters change nothing
  const Plan more = PlanFor(demand, Measured());
  EXPECT_EQ(more.masters, static_cast<uint32_t>(std::ceil(more.busy.at("redis") / demand.load)));
}

TEST(Plan, MastersShareTheMemory) {
  Demand demand = Wanted();
  const Plan one = PlanFor(demand, Measured());
  EXPECT_DOUBLE_EQ(one.maxmemory_bytes, 1.25 * one.redis_bytes);
  demand.posts_per_s = 30'000;
  const Plan many = PlanFor(demand, Measured());
  ASSERT_GT(many.masters, 1u);
  EXPECT_DOUBLE_EQ(many.maxmemory_bytes * many.masters, 1.25 * many.redis_bytes);
}

TEST(Plan, NamesNoMaxmemoryThatAnEmptyRedisWouldReach) {
  Demand demand = Wanted();
  demand.live_ratio = 0;
  EXPECT_DOUBLE_EQ(PlanFor(demand, Measured()).maxmemory_bytes, 64 * 1024 * 1024);
  EXPECT_EQ(PlanFor(demand, Measured()).redis_bytes, 0);
}

TEST(Plan, MoreRangesMakeEventsDearerAndFewerNotCheaper) {
  Demand demand = Wanted();
  const double at_16 = PlanFor(demand, Measured()).busy_cores;
  demand.ranges = 32;
  const Plan more = PlanFor(demand, Measured());
  EXPECT_NEAR(more.busy_cores - at_16, 300 * (20e-6 + 30e-6), 1e-12);
  demand.ranges = 4;
  EXPECT_DOUBLE_EQ(PlanFor(demand, Measured()).busy_cores, at_16);
}

TEST(Plan, ManyRangesGetHintsOnlyWhereFollowersAre) {
  Demand demand = Wanted();
  demand.ranges = 1024;
  demand.audience.mean_of_posts = 5;
  const double hints = PlanFor(demand, Measured()).hints_per_s / demand.posts_per_s;
  EXPECT_NEAR(hints, 5, 0.05);
  demand.ranges = 32;
  EXPECT_DOUBLE_EQ(PlanFor(demand, Measured()).hints_per_s / demand.posts_per_s, 32);
}

TEST(Plan, TakesTheLagBetweenTheLoadsThatWereMeasured) {
  Constants measured = Measured();
  Demand demand = Wanted();
  demand.cores = measured.cores;
  demand.audience.mean_of_posts = 200;
  demand.live_followers_ratio = 0.2;
  demand.posts_per_s = 350;
  const Plan middle = PlanFor(demand, measured);
  ASSERT_TRUE(middle.lag);
  EXPECT_NEAR(middle.lag->p50, 0.15, 1e-9);
  EXPECT_NEAR(middle.lag->p99, 0.40, 1e-9);
  demand.posts_per_s = 1;
  EXPECT_DOUBLE_EQ(PlanFor(demand, measured).lag->p99, 0.20);
  demand.posts_per_s = 601;
  const Plan above = PlanFor(demand, measured);
  EXPECT_FALSE(above.lag);
  EXPECT_NEAR(above.measured_load, CoresOf({0.1, 50e-6, 1.5e-6, 9e-6}, {600, 200, 40}) / 2, 1e-9);
}

TEST(Plan, NamesNoLagWhereNoneWasMeasured) {
  Constants measured = Measured();
  measured.lags.clear();
  EXPECT_FALSE(PlanFor(Wanted(), measured).lag);
}

TEST(Plan, TheLargestAuthorWaitsForTheIdleCores) {
  Demand demand = Wanted();
  demand.cores = 2;
  const Plan plan = PlanFor(demand, Measured());
  ASSERT_TRUE(plan.largest_s);
  EXPECT_DOUBLE_EQ(*plan.largest_s, 1e5 * (1.5e-6 + 0.5 * 9e-6) / (2 - plan.busy_cores));
  demand.cores = plan.busy_cores;
  EXPECT_FALSE(PlanFor(demand, Measured()).largest_s);
}

}  // namespace
}  // namespace fanline::feedctl
