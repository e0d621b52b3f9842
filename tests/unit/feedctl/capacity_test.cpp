// The parts of feedctl capacity: the line of costs, the audience of posts, the plan, the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>

#include "feedctl/capacity/audience.h"
#include "feedctl/capacity/bench_report.h"
#include "feedctl/capacity/cost.h"
#include "feedctl/capacity/followers_file.h"
#include "feedctl/capacity/plan.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Cost kCost{0.4, 170e-6, 3e-6, 10e-6};

std::vector<MeasuredWork> RunsOf(const Cost& cost) {
  std::vector<MeasuredWork> runs;
  for (const auto& [followers, live] : {std::pair(5., 1.), {70., 14.}, {200., 40.}, {200., 200.}}) {
    for (const double rate : {100., 700.}) {
      const Work work{rate, followers, live};
      runs.push_back({work, CoresOf(cost, work)});
    }
  }
  return runs;
}

// ---- costs -----------------------------------------------------------------------------------

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

// ---- audience --------------------------------------------------------------------------------

TEST(Audience, OfEvenPostsIsThatOfUsers) {
  Followers followers;
  followers.Add(0, 6);
  followers.Add(10);
  followers.Add(20);
  const Audience even = followers.Of(followers.users(), PostsBy::kUsers);
  EXPECT_DOUBLE_EQ(even.mean_of_posts, 30 / 8.);
  EXPECT_DOUBLE_EQ(even.most, 20);
  EXPECT_DOUBLE_EQ(followers.Of(16, PostsBy::kUsers).mean_of_users, 30 / 16.);
}

TEST(Audience, OfPostsInProportionIsThatOfFollowers) {
  Followers followers;
  followers.Add(10);
  followers.Add(20);
  const Audience weighted = followers.Of(2, PostsBy::kFollowers);
  EXPECT_DOUBLE_EQ(weighted.mean_of_posts, (10. * 10 + 20. * 20) / 30);
  EXPECT_DOUBLE_EQ(weighted.mean_of_users, 15);
  EXPECT_EQ(Followers().Of(5, PostsBy::kFollowers).mean_of_posts, 0);
}

TEST(Audience, OfAPowerLawHasTheMeanAndTheMostThatAreGiven) {
  for (const auto& [users, mean, most] :
       {std::tuple(1e3, 10., 500.), {1e6, 70., 1e5}, {1e9, 200., 1e8}, {1e6, 5., 5.}}) {
    const auto followers = PowerLaw(users, mean, most);
    ASSERT_TRUE(followers) << users;
    const Audience audience = followers->Of(users, PostsBy::kUsers);
    EXPECT_NEAR(audience.mean_of_users / mean, 1, 0.01) << users;
    EXPECT_DOUBLE_EQ(audience.most, most);
    EXPECT_NEAR(followers->users() / users, 1, 1e-6);
    EXPECT_GE(followers->Of(users, PostsBy::kFollowers).mean_of_posts, mean * 0.99);
  }
}

TEST(Audience, OfAnImpossiblePowerLawIsRefused) {
  EXPECT_FALSE(PowerLaw(100, 10, 5));    // the mean above the most
  EXPECT_FALSE(PowerLaw(100, 10, 100));  // a user does not follow himself
  EXPECT_FALSE(PowerLaw(100, 0.5, 10));
  EXPECT_FALSE(PowerLaw(10, 1, 100'000));
}

TEST(Audience, IsNotAboveTheUsersThatThereAre) {
  EXPECT_EQ(ProblemOf({.most = 99}, 100), "");
  EXPECT_THAT(ProblemOf({.most = 2'000}, 2'000), HasSubstr("2,000 followers, which --users 2,000"))
      << "nobody follows himself";
  EXPECT_NE(ProblemOf({.most = 1e30}, 100), "");
}

TEST(Law, IsToldFromAFile) {
  std::string problem;
  const auto fixed = ParseLaw("fixed:200", &problem);
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->mean, 200);
  EXPECT_FALSE(fixed->most);
  const auto law = ParseLaw("power-law:6.7:3035", &problem);
  ASSERT_TRUE(law);
  EXPECT_EQ(law->mean, 6.7);
  EXPECT_EQ(law->most, 3035);
  EXPECT_FALSE(ParseLaw("graph.txt.gz", &problem));
  EXPECT_EQ(problem, "");
  for (const char* bad :
       {"fixed:", "fixed:x", "fixed:-1", "power-law:7", "power-law:7:", "power-law:a:9"}) {
    problem.clear();
    EXPECT_FALSE(ParseLaw(bad, &problem)) << bad;
    EXPECT_THAT(problem, HasSubstr(", as in ")) << bad;
  }
}

class File {
 public:
  explicit File(const std::string& text) : path_(::testing::TempDir() + "capacity_test.txt") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  Followers Read() const {
    LineReader lines(path_);
    return ReadFollowers(lines);
  }

 private:
  const std::string path_;
};

TEST(FollowersFile, OfCountsIsAUserPerLine) {
  const Followers read = File("# followers\n0\n10\n\n20\r\n").Read();
  EXPECT_EQ(read.users(), 3);
  EXPECT_DOUBLE_EQ(read.Of(3, PostsBy::kUsers).mean_of_users, 10);
}

TEST(FollowersFile, OfEdgesCountsWhoIsFollowedAndWhoIsNot) {
  const Followers read = File("# a graph\n0\t1\n2 1\n1 1\n3 0\n").Read();
  EXPECT_EQ(read.users(), 4);
  EXPECT_DOUBLE_EQ(read.Of(4, PostsBy::kUsers).mean_of_users, 3 / 4.);
  EXPECT_DOUBLE_EQ(read.Of(4, PostsBy::kUsers).most, 2);
}

TEST(FollowersFile, OfAnythingElseIsRefusedByLine) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(File(text).Read());
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit_code(), kExitData);
      return failure.what();
    }
    return "read";
  };
  EXPECT_THAT(refusal("7\n1 2\n"), HasSubstr(":2: an edge"));
  EXPECT_THAT(refusal("1 2\n7\n"), HasSubstr(":2: one id only"));
  EXPECT_THAT(refusal("1 2\nx y\n"), HasSubstr(":2: "));
  EXPECT_THAT(refusal("-7\n"), HasSubstr(":1: "));
  EXPECT_THAT(refusal("# nothing\n"), HasSubstr("names nobody"));
}

// ---- plans -----------------------------------------------------------------------------------

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

// ---- reports ---------------------------------------------------------------------------------

std::string RowText(const std::string& name, double value, const std::string& more) {
  return "{\"name\":\"" + name + "\",\"value\":" + std::to_string(value) +
         ",\"machine\":\"2 x it\",\"cores\":2,\"ranges\":16" + more + "}";
}

std::string CostRow(const MeasuredWork& run) {
  const std::string us = std::to_string(run.cores / run.work.events_per_s * 1e6);
  return RowText("event_cost_some", 1,
                 ",\"events_per_second\":" + std::to_string(run.work.events_per_s) +
                     ",\"followers\":" + std::to_string(run.work.followers) +
                     ",\"live\":" + std::to_string(run.work.live) +
                     ",\"cpu_us_per_event\":{\"redis\":" + us + ",\"kafka\":" + us + "}");
}

std::string Report(const std::string& more = "") {
  std::string text = "[" + RowText("timeline_bytes_compact", 10'400, ",\"items\":450");
  for (const MeasuredWork& run : RunsOf(kCost)) text += "," + CostRow(run);
  return text + more + "]";
}

TEST(BenchReport, HoldsWhatAPlanIsMadeOf) {
  const std::string work = ",\"events_per_second\":500,\"followers\":200,\"live\":40";
  std::string problem;
  const auto read = ReadConstants(Report("," + RowText("latency_half_rate", 170, work) + "," +
                                         RowText("latency_half_rate_p99", 300, work) + "," +
                                         RowText("latency_tenth_rate", 170, work)),
                                  Encoding::kCompact, &problem);
  ASSERT_TRUE(read) << problem;
  EXPECT_EQ(read->machine, "2 x it");
  EXPECT_EQ(read->cores, 2);
  EXPECT_EQ(read->ranges, 16u);
  EXPECT_EQ(read->timeline_bytes, 10'400);
  EXPECT_EQ(read->timeline_items, 450);
  ASSERT_EQ(read->costs.size(), 2u);
  EXPECT_NEAR(read->costs.at("kafka").event, kCost.event, 1e-8);
  ASSERT_EQ(read->lags.size(), 1u);  // a p99 without its p50, or the other way round, is left out
  EXPECT_DOUBLE_EQ(read->lags[0].lag.p50, 0.170);
  EXPECT_DOUBLE_EQ(read->lags[0].lag.p99, 0.300);
  EXPECT_DOUBLE_EQ(read->lags[0].work.events_per_s, 500);
}

// bench/run.py --rows leaves the other rows as they were.
TEST(BenchReport, IsOfOneMachineAndOneNumberOfRanges) {
  const auto lag = [](const std::string& machine, int cores, int ranges) {
    return R"(,{"name":"latency_half_rate","value":170,"machine":")" + machine + R"(","cores":)" +
           std::to_string(cores) + R"(,"ranges":)" + std::to_string(ranges) +
           R"(,"events_per_second":500,"followers":200,"live":40})";
  };
  std::string problem;
  EXPECT_TRUE(ReadConstants(Report(lag("2 x it, load 0.1; 2026-01-02", 2, 16)), Encoding::kCompact,
                            &problem))
      << problem;
  for (const std::string& other :
       {lag("64 x it", 2, 16), lag("2 x it", 4, 16), lag("2 x it", 2, 4)}) {
    EXPECT_FALSE(ReadConstants(Report(other), Encoding::kCompact, &problem)) << other;
    EXPECT_THAT(problem, HasSubstr("its row latency_half_rate is of another machine or number of "
                                   "ranges than event_cost_some"));
  }
}

TEST(BenchReport, SaysWhatIsMissing) {
  std::string problem;
  const auto refused = [&](const std::string& text, Encoding encoding = Encoding::kCompact) {
    EXPECT_FALSE(ReadConstants(text, encoding, &problem)) << text;
    return problem;
  };
  EXPECT_THAT(refused("not json"), HasSubstr("no report of make bench"));
  EXPECT_THAT(refused("{}"), HasSubstr("it lacks the rows"));
  EXPECT_THAT(refused("[]"), HasSubstr("bench/run.py --rows timeline_bytes_compact,event_cost"));
  EXPECT_THAT(refused(Report(), Encoding::kSkiplist),
              AllOf(HasSubstr("lacks the rows timeline_bytes_skiplist; type "),
                    HasSubstr("--rows timeline_bytes_skiplist,event_cost,latency")));
  EXPECT_THAT(refused("[" + RowText("timeline_bytes_compact", 10'400, ",\"items\":450") + "]"),
              HasSubstr("lacks the rows event_cost_*; type make bench, or "));
  EXPECT_THAT(refused("[" + RowText("timeline_bytes_compact", 10'400, "") + "," +
                      CostRow(RunsOf(kCost)[0]) + "]"),
              HasSubstr("one of before"));
  EXPECT_THAT(refused("[" + RowText("timeline_bytes_compact", 10'400, ",\"items\":450") + "," +
                      CostRow(RunsOf(kCost)[0]) + "]"),
              HasSubstr("do not tell what kafka spends"));
  EXPECT_THAT(refused("[" + RowText("timeline_bytes_compact", 10'400, ",\"items\":0") +
                      Report().substr(Report().find("},") + 1)),
              HasSubstr("not above 0"));
}

}  // namespace
}  // namespace fanline::feedctl
