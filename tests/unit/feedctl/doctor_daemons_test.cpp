// What feedctl doctor reads of daemons' metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;

constexpr const char* kBuild =
    "# HELP fanline_build_info 1\n# TYPE fanline_build_info gauge\n"
    "fanline_build_info{version=\"0.1.0\"} 1\nprocess_start_time_seconds 1000\n";

Checks OfDaemon(const std::string& more) {
  return JudgeDaemons(
      {{.address = "d:1", .metrics = Metrics::Parse(kBuild + more), .now_s = 1000 + 600}});
}

TEST(Metrics, AreReadAsTheyAreWritten) {
  const Metrics metrics = Metrics::Parse(
      "# TYPE a counter\na 1\nb{x=\"1\",y=\"a \\\"b\\\\ c\"} 2.5\nb{x=\"2\"} NaN\n"
      "c{} 3\nd{x=\"1\nbad\ne{x=\"1\"} word\nf +Inf 123");
  EXPECT_EQ(metrics.Sum("a"), 1);
  EXPECT_EQ(metrics.Sum("b"), 2.5);
  ASSERT_EQ(metrics.Of("b").size(), 2u);
  EXPECT_EQ(metrics.Of("b")[0]->labels.at("y"), "a \"b\\ c");
  EXPECT_EQ(metrics.Sum("c"), 3);
  EXPECT_TRUE(metrics.Of("d").empty());
  EXPECT_TRUE(metrics.Of("e").empty());
  EXPECT_EQ(metrics.Of("f").size(), 1u);
  EXPECT_TRUE(Metrics::Parse("").empty());
}

TEST(Metrics, AreAskedForAtAHostAndPort) {
  EXPECT_EQ(ParseTarget("h:9402"), (Endpoint{"h", 9402}));
  EXPECT_EQ(ParseTarget("http://h:9402/metrics"), (Endpoint{"h", 9402}));
  EXPECT_EQ(ParseTarget("http://h:9402/"), (Endpoint{"h", 9402}));
  EXPECT_EQ(ParseTarget("[::1]:9402"), (Endpoint{"::1", 9402}));
  for (const char* bad : {"h", "h:0", "https://h:1", "h:1/other", ""}) {
    EXPECT_FALSE(ParseTarget(bad)) << bad;
  }
}

TEST(Daemons, ThatAreWellSayHowLongTheyRun) {
  const Checks checks = OfDaemon("fanline_ready{condition=\"redis\"} 1\n");
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].level, Level::kWell);
  EXPECT_EQ(checks[0].text, "version 0.1.0, up for 10 minutes");
}

TEST(Daemons, ThatDoNotAnswerOrAreNotOurs) {
  EXPECT_EQ(JudgeDaemons({{.address = "d:1", .away = "refused"}})[0].level, Level::kAway);
  EXPECT_EQ(JudgeDaemons({{.address = "d:1", .metrics = Metrics::Parse("up 1\n")}})[0].level,
            Level::kAway);
}

TEST(Daemons, SayWhatIsAwayAndWhyTheyAreNotReady) {
  const Checks checks = OfDaemon(
      "fanline_reachable{resource=\"mysql_0\"} 1\nfanline_reachable{resource=\"mysql_1\"} 0\n"
      "fanline_reachable{resource=\"redis\"} 0\nfanline_ready{condition=\"loop\"} 1\n"
      "fanline_ready{condition=\"ranges\"} 0\n");
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(checks[1].level, Level::kLook);
  EXPECT_EQ(checks[1].text, "away: mysql_1, redis");
  EXPECT_EQ(checks[1].runbook, "stores.md#fanlinestoreaway");
  EXPECT_EQ(checks[2].text, "not ready: ranges");
  EXPECT_EQ(checks[2].runbook, "daemons.md#fanlinenotready");
}

TEST(Daemons, GaugesThatAreNotZeroAreToBeLookedAt) {
  const Checks checks = OfDaemon(
      "fanline_rel_breaker_open{shard=\"0\"} 0\nfanline_rel_breaker_open{shard=\"1\"} 1\n"
      "fanline_audit_misses_per_10000 2.5\nfanline_ranges_paused{cause=\"buffered\"} 3\n"
      "fanline_ranges_paused{cause=\"parked\"} 2\n");
  std::vector<std::string> texts;
  for (const Check& check : checks) {
    if (check.level == Level::kLook) texts.push_back(check.text);
  }
  EXPECT_THAT(texts, ElementsAre("1 an open breaker: 1", "2.5 of 10,000 sampled items missing",
                                 "2 ranges paused: parked"));
  EXPECT_EQ(OfDaemon("fanline_audit_misses_per_10000 NaN\n").size(), 1u);
}

TEST(Daemons, CountersAreToldAndAreNoFault) {
  const Checks checks = OfDaemon(
      "fanline_takeovers_total{cause=\"assigned\"} 16\n"
      "fanline_takeovers_total{cause=\"session_lost\"} 2\n"
      "fanline_takeovers_total{cause=\"fenced\"} 0\nfanline_hints_quarantined_total 1\n");
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].level, Level::kNote);
  EXPECT_EQ(checks[0].text,
            "version 0.1.0, up for 10 minutes; since then takeovers: 2 session_lost; "
            "hints quarantined: 1");
  EXPECT_EQ(OfDaemon("fanline_takeovers_total{cause=\"assigned\"} 16\n")[0].level, Level::kWell);
}

}  // namespace
}  // namespace fanline::feedctl
