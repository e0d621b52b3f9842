// What feedctl doctor makes of shards and of Redis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::HasSubstr;

TEST(Shards, AreToldApart) {
  const Checks checks = JudgeShards({{.address = "a:1/x"},
                                     {.address = "b:1/x", .away = kGone},
                                     {.address = "c:1/x", .wrong = {"another installation"}},
                                     {.address = "d:1/x", .installed = false}});
  EXPECT_EQ(LevelOf(checks, "MariaDB shard 0"), Level::kWell);
  EXPECT_EQ(LevelOf(checks, "MariaDB shard 1"), Level::kAway);
  EXPECT_EQ(TextOf(checks, "MariaDB shard 1"), "cannot reach it");
  EXPECT_EQ(Find(checks, "MariaDB shard 1")->advice, "start it");
  EXPECT_EQ(LevelOf(checks, "MariaDB shard 2"), Level::kLook);
  EXPECT_EQ(TextOf(checks, "MariaDB shard 2"), "another installation");
  EXPECT_THAT(Find(checks, "MariaDB shard 2")->advice, HasSubstr("--mysql-shards"));
  EXPECT_EQ(LevelOf(checks, "MariaDB shard 3"), Level::kInit);
  EXPECT_EQ(Find(checks, "MariaDB shard 3")->advice, "feedctl init");
}

TEST(Shards, OfAnotherInstallationMaySayWhatToType) {
  const Checks checks = JudgeShards({{.wrong = {"its schema_version is 2", "take its programs"}}});
  EXPECT_EQ(Find(checks, "MariaDB shard 0")->advice, "take its programs");
}

TEST(Shards, WithOlderTablesAreToBeMigrated) {
  const Checks old = JudgeShards({{.missing = {"0002_a.sql", "0003_b.sql"}, .read = false}, {}});
  EXPECT_EQ(LevelOf(old, "MariaDB shard 0"), Level::kLook);
  EXPECT_THAT(TextOf(old, "MariaDB shard 0"), HasSubstr("they lack 0002_a.sql to 0003_b.sql"));
  EXPECT_EQ(Find(old, "MariaDB shard 0")->advice, "feedctl migrate");
  EXPECT_EQ(LevelOf(old, "MariaDB shard 1"), Level::kWell);
}

TEST(Shards, WithNewerTablesAreWorthKnowingAndNoOlderFeedctlMigratesBesideThem) {
  const Checks newer = JudgeShards({{.address = "a:1/x", .newer = 7}, {.missing = {"0005_c.sql"}}});
  EXPECT_EQ(LevelOf(newer, "MariaDB shard 0"), Level::kNote);
  EXPECT_THAT(TextOf(newer, "MariaDB shard 0"), HasSubstr("they have had migration 7"));
  EXPECT_THAT(Find(newer, "MariaDB shard 0")->advice, HasSubstr("the feedctl of that version"));
  EXPECT_EQ(Find(newer, "MariaDB shard 1")->advice, "feedctl migrate, of the newest version");
}

TEST(Redis, IsWellWhenItServesEveryRange) {
  const Checks checks = JudgeRedis(Redis());
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].level, Level::kWell);
}

TEST(Redis, NamesTheRangesThatNobodyServes) {
  RedisFacts redis = Redis();
  redis.ranges[1].status = redis.ranges[2].status = Status::Later("redis", "no node serves it");
  redis.warnings = {"dear; buy another"};
  const Checks checks = JudgeRedis(redis);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].level, Level::kAway);
  EXPECT_EQ(checks[0].text, "ranges 1, 2: no node serves it");
  EXPECT_THAT(checks[0].advice, HasSubstr("bring their master back"));
  EXPECT_EQ(checks[1].level, Level::kNote);
  EXPECT_EQ(checks[1].text, "dear");
  EXPECT_EQ(checks[1].advice, "buy another");
}

TEST(Redis, ThatPushersRefuseIsToBeLookedAt) {
  RedisFacts redis = Redis();
  redis.refusals = {"evicts keys; CONFIG SET"};
  EXPECT_EQ(JudgeRedis(redis)[0].level, Level::kLook);
  EXPECT_EQ(JudgeRedis(redis)[0].text, "evicts keys");
  EXPECT_EQ(JudgeRedis(redis)[0].advice, "CONFIG SET");
  EXPECT_EQ(JudgeRedis({.away = kGone})[0].level, Level::kAway);
  EXPECT_EQ(JudgeRedis({.away = kGone})[0].advice, "start it");
}

TEST(Redis, ThatIsFullIsToBeLookedAtAndTheRunbookSaysWhatToType) {
  RedisFacts full = Redis();
  full.full = {"redis a:1: is full; CONFIG SET maxmemory"};
  const Checks checks = JudgeRedis(full);
  ASSERT_EQ(checks.size(), 1u) << "not well besides";
  EXPECT_EQ(checks[0].level, Level::kLook);
  EXPECT_EQ(checks[0].text, "redis a:1: is full");
  EXPECT_EQ(checks[0].advice, "CONFIG SET maxmemory");
  EXPECT_EQ(checks[0].runbook, "delivery.md#fanlineredisfull");
  EXPECT_TRUE(OfLevel(Level::kLook, JudgeRedis(Redis())).empty());
}

}  // namespace
}  // namespace fanline::feedctl
