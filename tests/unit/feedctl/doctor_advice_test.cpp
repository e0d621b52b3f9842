// Where feedctl doctor advises something.
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

TEST(Advice, IsGivenWhereSomethingIsToBeDoneAndNowhereElse) {
  RedisFacts redis = Redis();
  const mysql::Installation three = ThreeRanges(5);
  Checks checks = JudgeRanges(three, redis, {.owners = Owners()}, {{}});
  const auto add = [&checks](const Checks& more) {
    checks.insert(checks.end(), more.begin(), more.end());
  };
  add(JudgeRanges(three, redis, {.owners = kafka::GroupOwners{}}, {{}}));
  add(JudgeShards({{},
                   {.away = kGone},
                   {.installed = false},
                   {.wrong = {"x"}},
                   {.newer = 9},
                   {.missing = {"0005_x.sql"}}}));
  add(JudgeRedis(redis));
  add(JudgeRedis({.refusals = {"x"}, .full = {"y"}}));
  add(JudgeLogs({{.topic = "a", .members = 1}, {.topic = "b", .missing = "b.dlq"}}));
  add(JudgeRelations({{}}, {}));
  for (const Check& check : checks) {
    const bool to_do = check.level > Level::kNote;
    EXPECT_TRUE(check.level == Level::kNote || check.advice.empty() != to_do) << check.text;
  }
}

}  // namespace
}  // namespace fanline::feedctl
