// The report of make bench, as feedctl capacity reads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/capacity/bench_report.h"
#include "feedctl/capacity/plan.h"
#include "tests/unit/feedctl/capacity_runs.h"

namespace fanline::feedctl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
  EXPECT_THAT(refused("not json"), HasSubstr("not a report of make bench"));
  EXPECT_THAT(refused("{}"), HasSubstr("it lacks the rows"));
  EXPECT_THAT(refused("[]"), HasSubstr("bench/run.py --rows timeline_bytes_compact,event_cost"));
  EXPECT_THAT(refused(Report(), Encoding::kSkiplist),
              AllOf(HasSubstr("lacks the rows timeline_bytes_skiplist; type "),
                    HasSubstr("--rows timeline_bytes_skiplist,event_cost,latency")));
  EXPECT_THAT(refused("[" + RowText("timeline_bytes_compact", 10'400, ",\"items\":450") + "]"),
              HasSubstr("lacks the rows event_cost_*; type make bench, or "));
  EXPECT_THAT(refused("[" + RowText("timeline_bytes_compact", 10'400, "") + "," +
                      CostRow(RunsOf(kCost)[0]) + "]"),
              HasSubstr("or an older one"));
  EXPECT_THAT(refused("[" + RowText("timeline_bytes_compact", 10'400, ",\"items\":450") + "," +
                      CostRow(RunsOf(kCost)[0]) + "]"),
              HasSubstr("do not tell on what kafka spends"));
  EXPECT_THAT(refused("[" + RowText("timeline_bytes_compact", 10'400, ",\"items\":0") +
                      Report().substr(Report().find("},") + 1)),
              HasSubstr("not above 0"));
}

}  // namespace
}  // namespace fanline::feedctl
