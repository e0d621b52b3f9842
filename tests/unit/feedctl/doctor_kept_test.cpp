// What feedctl doctor makes of what is kept for later: dead letters, and changes of relations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::HasSubstr;

TEST(DeadLetters, ThatWaitAreToBeLookedAt) {
  const Checks none = JudgeLetters({.letters = {{.topic = "a.dlq"}, {.topic = "b.dlq"}}}, "24h");
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].level, Level::kWell);
  const Checks some =
      JudgeLetters({.letters = {{.topic = "a.dlq"}, {.topic = "b.dlq", .waiting = 2}}}, "24h");
  EXPECT_EQ(LevelOf(some, "b.dlq"), Level::kLook);
  EXPECT_EQ(Find(some, "b.dlq")->advice, "feedctl dlq list --topic b.dlq --since 24h");
  EXPECT_EQ(LevelOf(some, "others"), Level::kWell);
  const Checks away = JudgeLetters({.letters = {{.topic = "a.dlq", .away = kGone}}}, "24h");
  ASSERT_EQ(away.size(), 1u);
  EXPECT_EQ(away[0].level, Level::kAway);
  EXPECT_EQ(away[0].advice, "start it");
}

TEST(DeadLetters, ThatNobodyLookedAtAreNotCalledNone) {
  const Checks checks = JudgeLetters({.away = true}, "24h");
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(LevelOf(checks, "all topics"), Level::kNote);
  EXPECT_EQ(TextOf(checks, "all topics"), "not known: Kafka is away");
}

TEST(DeadLetters, OfWhichOnlyTheNewestWereLookedAtAreNotCalledNone) {
  const LetterFacts some{.topic = "a.dlq", .waiting = 2, .more = true};
  EXPECT_THAT(TextOf(JudgeLetters({.letters = {some}}, "24h"), "a.dlq"),
              HasSubstr("at least 2 letters"));
  const Checks none = JudgeLetters({.letters = {{.topic = "a.dlq", .more = true}}}, "24h");
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(LevelOf(none, "a.dlq"), Level::kLook);
  EXPECT_EQ(Find(none, "a.dlq")->advice, "feedctl dlq list --topic a.dlq --since 24h");
}

TEST(DeadLetters, WithoutATopicAreToBeLookedAt) {
  const Checks checks =
      JudgeLetters({.letters = {{.topic = "a.dlq"}, {.topic = "b.dlq", .exists = false}}}, "1h");
  EXPECT_EQ(ExitCodeOf(checks), 1);
  ASSERT_EQ(LevelOf(checks, "b.dlq"), Level::kLook);
  EXPECT_EQ(Find(checks, "b.dlq")->advice, "feedctl topics create");
  EXPECT_EQ(LevelOf(checks, "others"), Level::kWell);
}

TEST(Relations, ShowOpenBreakers) {
  ShardFacts open;
  open.open_breakers = {"follower on shard 1"};
  const Checks checks = JudgeRelations({{}, open}, {});
  EXPECT_EQ(LevelOf(checks, "breakers"), Level::kLook);
  EXPECT_THAT(TextOf(checks, "breakers"), HasSubstr("follower on shard 1"));
  EXPECT_EQ(LevelOf(JudgeRelations({{}}, {}), "breakers"), Level::kWell);
}

TEST(Relations, DoNotCallABreakerClosedThatTheyCannotSee) {
  for (const ShardFacts& bad : kSilent) {
    EXPECT_EQ(LevelOf(JudgeRelations({{}, bad}, {}), "breakers"), Level::kNote);
    EXPECT_EQ(TextOf(JudgeRelations({{}, bad}, {}), "breakers"), "not known of MariaDB shard 1");
    EXPECT_EQ(LevelOf(JudgeRelations({{}, bad}, {}), "reconciler"), Level::kWell);
  }
  for (const char* line : {"breakers", "reconciler"}) {
    EXPECT_EQ(LevelOf(JudgeRelations({{}}, {.away = kGone}), line), Level::kNote);
    EXPECT_THAT(TextOf(JudgeRelations({{}}, {.away = kGone}), line),
                HasSubstr("shard 0 does not tell its settings"));
    EXPECT_EQ(TextOf(JudgeRelations({{.away = kGone}}, {.away = kGone}), line),
              "not known of MariaDB shard 0");
  }
}

TEST(Relations, NameTheOldestChangeThatWaits) {
  ShardFacts young, old;
  young.oldest_change_s = 2;
  old.oldest_change_s = 31;
  EXPECT_EQ(LevelOf(JudgeRelations({{}}, {}), "changes"), Level::kWell);
  EXPECT_EQ(LevelOf(JudgeRelations({young}, {}), "changes"), Level::kWell);
  const Checks late = JudgeRelations({young, old, young}, {});
  EXPECT_EQ(LevelOf(late, "changes"), Level::kWell);
  EXPECT_THAT(TextOf(late, "changes"), HasSubstr("31.0 s"));
}

TEST(Relations, DoNotSayThatNoChangeWaitsWhereTheyCannotSee) {
  ShardFacts young;
  young.oldest_change_s = 2;
  for (const ShardFacts& bad : kSilent) {
    const Checks none = JudgeRelations({{}, bad}, {});
    EXPECT_EQ(LevelOf(none, "changes"), Level::kNote);
    EXPECT_EQ(TextOf(none, "changes"), "not known of MariaDB shard 1");
    const Checks some = JudgeRelations({young, bad}, {});
    EXPECT_EQ(LevelOf(some, "changes"), Level::kNote);
    EXPECT_THAT(TextOf(some, "changes"), HasSubstr("2.0 s; not known of MariaDB shard 1"));
  }
}

TEST(Relations, MindAReconcilerThatDoesNotRun) {
  EXPECT_EQ(LevelOf(JudgeRelations({{}}, {}), "reconciler"), Level::kWell);
  const Checks paused = JudgeRelations({{}}, {.reconciler = ReconcilerMode::kPause});
  EXPECT_EQ(LevelOf(paused, "reconciler"), Level::kNote);
  EXPECT_EQ(TextOf(paused, "reconciler"), "pause");
  EXPECT_EQ(Find(paused, "reconciler")->advice, "feedctl relations reconciler run");
}

}  // namespace
}  // namespace fanline::feedctl
