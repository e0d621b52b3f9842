// What feedctl doctor makes of logs, and of what reconcilers are told to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::HasSubstr;

LogFacts Log(bool of_posts = true) {
  return {.topic = "t", .group = "g", .program = "fanline-x", .of_posts = of_posts, .members = 1};
}

Check Judged(const LogFacts& log) { return JudgeLogs({log}).front(); }

TEST(Logs, AreWellWhenSomebodyReadsThem) {
  EXPECT_EQ(Judged(Log()).level, Level::kWell);
  EXPECT_EQ(Judged(Log()).text, "1 reader");
}

TEST(Logs, WhoseReadersAreNotKnownAreNotCalledWell) {
  LogFacts log = Log();
  log.members.reset();
  EXPECT_EQ(Judged(log).level, Level::kNote);
  EXPECT_EQ(Judged(log).text, "who reads it is not known just now");
}

TEST(Logs, OfPostsThatNobodyReadsAreToBeLookedAt) {
  LogFacts log = Log();
  log.members = 0;
  EXPECT_EQ(Judged(log).level, Level::kLook);
  EXPECT_EQ(Judged(log).advice, "start fanline-x");
  log.of_posts = false;  // an installation may do without relations
  EXPECT_EQ(Judged(log).level, Level::kNote);
  EXPECT_EQ(Judged(log).advice, "start fanline-x");
}

TEST(Logs, OfWhichATopicIsMissingOrThatAreAway) {
  LogFacts log = Log();
  log.missing = "t.dlq";
  EXPECT_EQ(Judged(log).text, "there is no topic t.dlq");
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

TEST(Relations, MindAReconcilerThatDoesNotRun) {
  EXPECT_EQ(LevelOf(JudgeRelations({{}}, {}), "reconciler"), Level::kWell);
  const Checks paused = JudgeRelations({{}}, {.reconciler = ReconcilerMode::kPause});
  EXPECT_EQ(LevelOf(paused, "reconciler"), Level::kNote);
  EXPECT_EQ(TextOf(paused, "reconciler"), "pause");
  EXPECT_EQ(Find(paused, "reconciler")->advice, "feedctl relations reconciler run");
}

TEST(Relations, SayWhyTheSettingsAreNotKnown) {
  const auto text = [](const std::vector<ShardFacts>& shards) {
    const Checks checks = JudgeRelations(shards, {.away = kGone});
    EXPECT_EQ(LevelOf(checks, "reconciler"), Level::kNote);
    return TextOf(checks, "reconciler");
  };
  EXPECT_THAT(text({{}}), HasSubstr("shard 0 does not tell its settings"));
  for (const ShardFacts& bad : {kSilent[0], kSilent[1], kSilent[3]}) {
    EXPECT_EQ(text({bad, {}}), "not known of MariaDB shard 0");
  }
}

}  // namespace
}  // namespace fanline::feedctl
