// What feedctl doctor advises, and what of it has to wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "feedctl/doctor/postpone.h"
#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Advice, IsGivenWhereSomethingIsToBeDoneAndNowhereElse) {
  RedisFacts redis = Redis();
  const mysql::Installation three = ThreeRanges(5);
  Checks checks = JudgeRanges(three, redis, {.owners = Owners()}, {{}});
  const auto add = [&checks](const Checks& more) {
    checks.insert(checks.end(), more.begin(), more.end());
  };
  add(JudgeRanges(three, redis, {.owners = kafka::GroupOwners{}}, {{.crashes = {{1, 2}}}}));
  add(JudgeShards({{},
                   {.away = kGone},
                   {.installed = false},
                   {.wrong = {"x"}},
                   {.newer = 9},
                   {.missing = {"0005_x.sql"}}}));
  add(JudgeRedis(redis));
  add(JudgeRedis({.refusals = {"x"}, .full = {"y"}}));
  add(JudgeLetters({.letters = {{.topic = "a"}, {.topic = "b", .waiting = 1}}}, "1h"));
  add(JudgeRelations({{}}, {}));
  add(JudgeRelations({{.oldest_change_s = 99, .open_breakers = {"x"}}}, {}));
  for (const Check& check : checks) {
    const bool to_do = check.level > Level::kNote;
    EXPECT_TRUE(check.level == Level::kNote || check.advice.empty() != to_do) << check.text;
  }
}

Checks Advised(const std::vector<std::string>& advice) {
  Checks checks;
  for (const std::string& each : advice) checks.push_back({"s", each, Level::kLook, "t", each});
  return checks;
}

std::vector<std::string> Postponed(const Blocked& blocked, std::vector<std::string> advice) {
  Checks checks = Advised(advice);
  Postpone(blocked, &checks);
  for (size_t i = 0; i < checks.size(); ++i) advice[i] = checks[i].advice;
  return advice;
}

TEST(Advice, ThatCannotBeFollowedYetSaysWhatComesFirst) {
  const std::vector<std::string> all = {"feedctl init",
                                        "feedctl migrate",
                                        "feedctl ranges",
                                        "feedctl audit --repair, if it stays so",
                                        "feedctl dlq list --topic x",
                                        "start fanline-pusher"};
  EXPECT_EQ(Postponed({}, all), all);
  EXPECT_THAT(Postponed({.shards = ShardStage::kAnswer}, all),
              ElementsAre("once every shard answers: feedctl init",
                          "once every shard answers: feedctl migrate",
                          "once every shard answers: feedctl ranges",
                          "once every shard answers: feedctl audit --repair, if it stays so",
                          "feedctl dlq list --topic x", "start fanline-pusher"));
  EXPECT_THAT(Postponed({.shards = ShardStage::kInstalled}, all),
              ElementsAre("feedctl init", "after feedctl init: feedctl migrate",
                          "after feedctl init: feedctl ranges", HasSubstr("after feedctl init: "),
                          "feedctl dlq list --topic x", "start fanline-pusher"));
  EXPECT_EQ(Postponed({.shards = ShardStage::kAgree}, all)[1],
            "once the shards agree: feedctl migrate");
  EXPECT_EQ(Postponed({.shards = ShardStage::kMigrated}, all)[1], "feedctl migrate");
  EXPECT_EQ(Postponed({.shards = ShardStage::kMigrated}, all)[2],
            "after feedctl migrate: feedctl ranges");
}

TEST(Advice, ThatOnlyMentionsACommandWaitsForNothing) {
  const std::vector<std::string> all = {
      "name the installation's shards, in the order of feedctl init",
      "use the feedctl of that version: its feedctl migrate finishes what was begun"};
  EXPECT_EQ(Postponed({.shards = ShardStage::kAnswer, .redis = true, .kafka = true}, all), all);
}

TEST(Advice, WaitsForRedisAndForKafkaWhereItNeedsThem) {
  const std::vector<std::string> all = {"feedctl ranges", "feedctl audit",
                                        "feedctl dlq list --topic x", "feedctl topics create"};
  EXPECT_THAT(Postponed({.redis = true}, all),
              ElementsAre("feedctl ranges", "once Redis answers: feedctl audit",
                          "feedctl dlq list --topic x", "feedctl topics create"));
  EXPECT_THAT(Postponed({.kafka = true}, all),
              ElementsAre("feedctl ranges", "once Kafka answers: feedctl audit",
                          "once Kafka answers: feedctl dlq list --topic x",
                          "once Kafka answers: feedctl topics create"));
}

TEST(Advice, WaitsForTheFirstThingThatAShardLacks) {
  const auto stage = [](const std::vector<ShardFacts>& shards) {
    return BlockedBy(shards, {}, {}).shards;
  };
  const ShardFacts old{.missing = {"0005_x.sql"}}, bare{.installed = false};
  EXPECT_EQ(stage({{}}), std::nullopt);
  EXPECT_EQ(stage({{.newer = 9}}), std::nullopt) << "programs of before run on";
  EXPECT_EQ(stage({{}, old}), ShardStage::kMigrated);
  EXPECT_EQ(stage({old, {.wrong = {"x"}}}), ShardStage::kAgree);
  EXPECT_EQ(stage({{.wrong = {"x"}}, bare, old}), ShardStage::kInstalled);
  EXPECT_EQ(stage({bare, {.away = kGone}, old}), ShardStage::kAnswer);
  EXPECT_TRUE(BlockedBy({}, {.away = kGone}, {}).redis);
  EXPECT_TRUE(BlockedBy({}, {}, {.away = true}).kafka);
}

}  // namespace
}  // namespace fanline::feedctl
