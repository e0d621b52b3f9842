// What feedctl doctor makes of who owns the ranges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::HasSubstr;

TEST(Owners, AreWellWhenEveryRangeHasOneAndWasClaimed) {
  const Checks checks = Ranges(Redis(), 5, Owners(), {{}});
  EXPECT_EQ(LevelOf(checks, "pushers"), Level::kWell);
  EXPECT_EQ(TextOf(checks, "pushers"), "1 pusher for 3 ranges");
  EXPECT_EQ(TextOf(checks, "takeovers"), "30 live timelines, every range is claimed");
  EXPECT_EQ(LevelOf(checks, "takeovers"), Level::kWell);
}

TEST(Owners, ThatAreMissingAreNamed) {
  auto owners = Owners();
  owners.erase(1);
  const Checks some = Ranges(Redis(), 5, owners, {});
  EXPECT_EQ(LevelOf(some, "pushers"), Level::kLook);
  EXPECT_THAT(TextOf(some, "pushers"), HasSubstr("nobody has range 1"));
  EXPECT_EQ(Find(some, "pushers")->advice, "feedctl ranges");
  const Checks none = Ranges(Redis(), 5, kafka::GroupOwners{}, {});
  EXPECT_EQ(Find(none, "pushers")->advice, "start fanline-pusher");
}

TEST(Owners, ThatAreNotKnownAreNoFault) {
  const Checks checks = Ranges(Redis(), 5, std::nullopt, {});
  EXPECT_EQ(LevelOf(checks, "pushers"), Level::kNote);
  EXPECT_EQ(ExitCodeOf(checks), 0);
}

TEST(Owners, AreToldByKafkaAloneAndClaimsByRedisAlone) {
  const mysql::Installation three = ThreeRanges(5);
  const Checks no_redis = JudgeRanges(three, {.away = kGone}, {.owners = Owners()}, {{}});
  EXPECT_EQ(TextOf(no_redis, "pushers"), "1 pusher for 3 ranges");
  EXPECT_EQ(LevelOf(no_redis, "pushers"), Level::kWell);
  EXPECT_EQ(LevelOf(no_redis, "takeovers"), Level::kNote);
  EXPECT_EQ(TextOf(no_redis, "takeovers"), "not known: Redis is away");
  const Checks no_kafka = JudgeRanges(three, Redis(), {.away = true}, {{}});
  EXPECT_EQ(LevelOf(no_kafka, "pushers"), Level::kNote);
  EXPECT_EQ(TextOf(no_kafka, "pushers"), "not known: Kafka is away");
  EXPECT_EQ(LevelOf(no_kafka, "takeovers"), Level::kWell);
}

TEST(Owners, OfAnInstallationThatNobodyKnowsSayWhy) {
  const auto texts = [](const std::vector<ShardFacts>& shards) {
    const Checks checks = JudgeRanges(std::nullopt, Redis(), {.owners = Owners()}, shards);
    for (const Check& check : checks) EXPECT_EQ(check.level, Level::kNote) << check.name;
    EXPECT_EQ(checks.size(), 2u);
    EXPECT_EQ(TextOf(checks, "pushers"), TextOf(checks, "takeovers"));
    return TextOf(checks, "pushers");
  };
  EXPECT_EQ(texts({{.installed = false}, {.installed = false}}), "not known before feedctl init");
  EXPECT_EQ(texts({{.installed = false}, {.away = kGone}}), "not known of MariaDB shards 0, 1");
  EXPECT_EQ(texts({{.missing = {"0004_x.sql"}, .read = false}}), "not known of MariaDB shard 0");
}

TEST(Owners, OfRangesWhoseMasterIsAwayAreNotKnownToHaveClaimedThem) {
  RedisFacts redis = Redis();
  redis.ranges[1].status = Status::Later("redis", "gone");
  redis.ranges[1].position.reset();
  const Checks checks = Ranges(redis, 5, Owners(), {{}});
  EXPECT_EQ(LevelOf(checks, "takeovers"), Level::kNote);
  EXPECT_EQ(TextOf(checks, "takeovers"), "20 live timelines elsewhere; not known of range 1");
  EXPECT_EQ(LevelOf(checks, "pushers"), Level::kWell);
}

TEST(Owners, OfARangeThatNobodyTookOverAreToBeLookedAt) {
  RedisFacts redis = Redis();
  redis.ranges[2].position.reset();
  EXPECT_THAT(TextOf(Ranges(redis, 5, Owners(), {}), "takeovers"),
              HasSubstr("no pusher has claimed range 2"));
  EXPECT_EQ(LevelOf(Ranges(redis, 5, Owners(), {}), "takeovers"), Level::kLook);
  const Checks foreign = Ranges(Redis(), 6, Owners(), {});
  EXPECT_EQ(LevelOf(foreign, "takeovers"), Level::kLook);
  EXPECT_THAT(TextOf(foreign, "takeovers"), HasSubstr("another installation's"));
}

}  // namespace
}  // namespace fanline::feedctl
