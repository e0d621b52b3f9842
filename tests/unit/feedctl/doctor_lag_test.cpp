// What feedctl doctor makes of records that wait.
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/checks.h"

namespace fanline::feedctl {
namespace {

LogFacts Log(bool of_posts = true) {
  return {.topic = "t",
          .group = "g",
          .program = "fanline-x",
          .of_posts = of_posts,
          .members = 1,
          .committed = true,
          .waiting = 5};
}

Check Judged(const LogFacts& log) { return JudgeLogs({log}).front(); }

TEST(Lag, IsToldAndTheAlertsJudgeIt) {
  EXPECT_EQ(Judged(Log()).level, Level::kWell);
  EXPECT_EQ(Judged(Log()).text, "5 records wait, 1 reader");
  LogFacts log = Log();
  log.members.reset();
  EXPECT_EQ(Judged(log).text, "5 records wait");
}

TEST(Lag, OfALogThatNobodyReadsIsToBeLookedAt) {
  LogFacts log = Log();
  log.members = 0;
  log.waiting = 0;
  log.committed = false;
  EXPECT_EQ(Judged(log).level, Level::kLook);
  EXPECT_EQ(Judged(log).advice, "start fanline-x");
  log.of_posts = false;  // an installation may do without relations
  EXPECT_EQ(Judged(log).level, Level::kNote);
  log.committed = true;
  EXPECT_EQ(Judged(log).level, Level::kLook);
  log.committed = false;
  log.waiting = 1;
  EXPECT_EQ(Judged(log).level, Level::kLook);
}

TEST(Lag, OfATopicThatIsMissingOrAway) {
  LogFacts log = Log();
  log.exists = false;
  EXPECT_EQ(Judged(log).advice, "feedctl topics create");
  EXPECT_EQ(Judged(log).level, Level::kLook);
  log.away = {"cannot reach Kafka", "start it"};
  EXPECT_EQ(Judged(log).level, Level::kAway);
  EXPECT_EQ(Judged(log).text, "cannot reach Kafka");
  EXPECT_EQ(Judged(log).advice, "start it");
  log.asked = false;
  EXPECT_EQ(Judged(log).level, Level::kNote);
  EXPECT_EQ(Judged(log).text, "not known: Kafka is away");
}

}  // namespace
}  // namespace fanline::feedctl
