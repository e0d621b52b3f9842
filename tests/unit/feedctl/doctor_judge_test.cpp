// What feedctl doctor makes of facts about an installation.
#include "feedctl/doctor/judge.h"

#include <gmock/gmock.h>

#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::StartsWith;

// ---- stores ----

TEST(Shards, AreToldApart) {
  const Checks checks =
      JudgeShards({{.address = "a:1/x", .server = "MySQL 9.7.4"},
                   {.address = "b:1/x", .away = kGone},
                   {.address = "c:1/x", .wrong = {"another installation"}},
                   {.address = "d:1/x", .server = "MySQL 9.7.4", .installed = false},
                   {.wrong = {"its schema_version is 2", "take its programs"}},
                   {.unfit = {"MySQL 5.7.1 is too old", "take MySQL 8.0.29"}}});
  EXPECT_EQ(Told(checks, "shard 0"), "well: MySQL 9.7.4 at a:1/x");
  EXPECT_EQ(Told(checks, "shard 1"), "away: cannot reach it -> start it");
  EXPECT_THAT(Told(checks, "shard 2"),
              StartsWith("look: another installation -> name the installation's shards by "
                         "--mysql-shards"));
  EXPECT_EQ(
      Told(checks, "shard 3"),
      "not_installed: MySQL 9.7.4 at d:1/x: feedctl init has not been run, or did not reach it "
      "-> feedctl init");
  EXPECT_EQ(Told(checks, "shard 4"), "look: its schema_version is 2 -> take its programs");
  EXPECT_EQ(Told(checks, "shard 5"), "unfit: MySQL 5.7.1 is too old -> take MySQL 8.0.29");
  EXPECT_EQ(checks.back().runbook, "refusals.md#what-all-agree-on");
}

TEST(Shards, WithoutAProcedureSayWhichIsMissing) {
  const auto told = [](std::vector<std::string> procedures) {
    return Told(JudgeShards({{.address = "a:1/x", .server = "S", .procedures = procedures}}),
                "shard 0");
  };
  EXPECT_EQ(told({"change_edge"}),
            "look: S at a:1/x: it has no procedure change_edge, or none that this account may "
            "execute -> feedctl migrate, or give the account EXECUTE on the database");
  EXPECT_THAT(told({"change_edge", "follow_new_edge"}),
              testing::HasSubstr("no procedure change_edge, no follow_new_edge, or none"));
}

TEST(Shards, WithAProcedureOfAnotherVersionAreToBeMigratedUnlessTheyAreNewer) {
  const auto told = [](std::optional<uint32_t> newer) {
    return Told(JudgeShards({{.address = "a:1/x",
                              .server = "S",
                              .newer = newer,
                              .others = {"change_edge", "follow_new_edge"}}}),
                "shard 0");
  };
  EXPECT_EQ(told(std::nullopt),
            "look: S at a:1/x: its procedure change_edge is of another version -> feedctl migrate");
  EXPECT_THAT(told(7), StartsWith("note: "));
}

TEST(Shards, WhoseBinaryLogRefusesWritesSayWhatToSet) {
  const Checks checks = JudgeShards(
      {{.address = "a:1/x", .server = "S", .missing = {"0002_a.sql"}, .refuses_writes = true}});
  EXPECT_EQ(Told(checks, "shard 0"),
            "look: S at a:1/x: it refuses every write, as binlog_format is STATEMENT (error 1665) "
            "-> SET GLOBAL binlog_format = ROW (clouds: the parameter group)");
}

TEST(Shards, WhoseBinaryLogTellsMirrorsNothingAreWorthANote) {
  EXPECT_EQ(Told(JudgeShards({{.address = "a:1/x",
                               .server = "S",
                               .no_bell = {"it is compressed", "SET GLOBAL y = OFF"}}}),
                 "shard 0"),
            "note: S at a:1/x: mirrors may have to poll it in the mode log, too: it is "
            "compressed -> SET GLOBAL y = OFF");
}

TEST(Shards, WithOlderTablesAreToBeMigrated) {
  const Checks old = JudgeShards({{.missing = {"0002_a.sql", "0003_b.sql"}, .read = false},
                                  {.address = "b:1/x", .server = "MySQL 9.7.4"}});
  EXPECT_EQ(Told(old, "shard 0"),
            "look: its tables are older than this feedctl: they lack 0002_a.sql to 0003_b.sql -> "
            "feedctl migrate");
  EXPECT_EQ(Told(old, "shard 1"), "well: MySQL 9.7.4 at b:1/x");
}

TEST(Shards, WithNewerTablesAreWorthKnowingAndNoOlderFeedctlMigratesBesideThem) {
  const Checks newer = JudgeShards(
      {{.address = "a:1/x", .server = "MySQL 9.7.4", .newer = 7}, {.missing = {"0005_c.sql"}}});
  EXPECT_THAT(
      Told(newer, "shard 0"),
      StartsWith(
          "note: MySQL 9.7.4 at a:1/x; its tables are newer than this feedctl: they have had "
          "migration 7 -> use the feedctl of that version"));
  EXPECT_EQ(Told(newer, "shard 1"),
            "look: its tables are older than this feedctl: they lack 0005_c.sql -> feedctl "
            "migrate, of the newest version");
}

TEST(Redis, IsWellWhenItServesEveryRange) {
  const Checks checks = JudgeRedis(Redis());
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(Told(checks[0]), "well: r:1");
}

TEST(Redis, NamesTheRangesThatNobodyServes) {
  RedisFacts redis = Redis();
  redis.ranges[1].status = redis.ranges[2].status = Status::Later("redis", "no node serves it");
  redis.warnings = {"dear; buy another"};
  const Checks checks = JudgeRedis(redis);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(Told(checks[0]),
            "away: ranges 1, 2: no node serves it -> redis-cli --cluster check, and bring their "
            "master back");
  EXPECT_EQ(Told(checks[1]), "note: dear -> buy another");
}

TEST(Redis, ThatPushersRefuseOrThatIsFullIsToBeLookedAt) {
  RedisFacts redis = Redis();
  redis.refusals = {"evicts keys; CONFIG SET"};
  redis.full = {"redis a:1: is full; CONFIG SET maxmemory"};
  const Checks checks = JudgeRedis(redis);
  ASSERT_EQ(checks.size(), 2u) << "not well besides";
  EXPECT_EQ(Told(checks[0]), "look: evicts keys -> CONFIG SET");
  EXPECT_EQ(Told(checks[1]), "look: redis a:1: is full -> CONFIG SET maxmemory");
  EXPECT_EQ(checks[1].runbook, "delivery.md#fanlineredisfull");
  EXPECT_TRUE(OfLevel(Level::kLook, JudgeRedis(Redis())).empty());
  EXPECT_EQ(Told(JudgeRedis({.away = kGone})[0]), "away: cannot reach it -> start it");
}

// ---- owners ----

Checks Ranges(const RedisFacts& redis, const std::optional<kafka::GroupOwners>& owners,
              uint64_t generation = 5) {
  return JudgeRanges(ThreeRanges(generation), redis, {.owners = owners}, {{}});
}

TEST(Owners, AreWellWhenEveryRangeHasOneAndWasClaimed) {
  const Checks checks = Ranges(Redis(), Owners());
  EXPECT_EQ(Told(checks, "pushers"), "well: 1 pusher for 3 ranges");
  EXPECT_EQ(Told(checks, "takeovers"), "well: 30 live timelines, every range is claimed");
}

TEST(Owners, ThatAreMissingAreNamed) {
  auto owners = Owners();
  owners.erase(1);
  EXPECT_EQ(Told(Ranges(Redis(), owners), "pushers"),
            "look: 1 pusher for 3 ranges; nobody has range 1 -> feedctl ranges");
  EXPECT_EQ(Told(Ranges(Redis(), kafka::GroupOwners{}), "pushers"),
            "look: 0 pushers for 3 ranges; nobody has ranges 0-2 -> start fanline-pusher");
}

TEST(Owners, AreToldByKafkaAloneAndClaimsByRedisAlone) {
  EXPECT_EQ(Told(Ranges(Redis(), std::nullopt), "pushers"),
            "note: who owns the ranges is not known just now");
  const mysql::Installation three = ThreeRanges(5);
  const Checks no_redis = JudgeRanges(three, {.away = kGone}, {.owners = Owners()}, {{}});
  EXPECT_EQ(Told(no_redis, "pushers"), "well: 1 pusher for 3 ranges");
  EXPECT_EQ(Told(no_redis, "takeovers"), "note: not known: Redis is away");
  const Checks no_kafka = JudgeRanges(three, Redis(), {.away = true}, {{}});
  EXPECT_EQ(Told(no_kafka, "pushers"), "note: not known: Kafka is away");
  EXPECT_EQ(Told(no_kafka, "takeovers"), "well: 30 live timelines, every range is claimed");
}

TEST(Owners, OfAnInstallationThatNobodyKnowsSayWhy) {
  const auto told = [](const std::vector<ShardFacts>& shards) {
    const Checks checks = JudgeRanges(std::nullopt, Redis(), {.owners = Owners()}, shards);
    EXPECT_EQ(checks.size(), 2u);
    EXPECT_EQ(Told(checks, "pushers"), Told(checks, "takeovers"));
    return Told(checks, "pushers");
  };
  EXPECT_EQ(told({{.installed = false}, {.installed = false}}),
            "note: not known before feedctl init");
  EXPECT_EQ(told({{.installed = false}, {.away = kGone}}), "note: not known of shards 0, 1");
  for (const ShardFacts& silent : {ShardFacts{.away = kGone}, ShardFacts{.wrong = {"another's"}},
                                   ShardFacts{.missing = {"0004_x.sql"}, .read = false}}) {
    EXPECT_EQ(told({silent, {}}), "note: not known of shard 0");
  }
}

TEST(Owners, OfRangesWhoseMasterIsAwayAreNotKnownToHaveClaimedThem) {
  RedisFacts redis = Redis();
  redis.ranges[1].status = Status::Later("redis", "gone");
  redis.ranges[1].position.reset();
  const Checks checks = Ranges(redis, Owners());
  EXPECT_EQ(Told(checks, "takeovers"), "note: 20 live timelines elsewhere; not known of range 1");
  EXPECT_EQ(Told(checks, "pushers"), "well: 1 pusher for 3 ranges");
}

TEST(Owners, OfARangeThatNobodyTookOverAreToBeLookedAt) {
  RedisFacts redis = Redis();
  redis.ranges[2].position.reset();
  EXPECT_EQ(Told(Ranges(redis, Owners()), "takeovers"),
            "look: 30 live timelines; no pusher has claimed range 2 -> feedctl ranges");
  EXPECT_EQ(Told(Ranges(Redis(), Owners(), 6), "takeovers"),
            "look: 30 live timelines; ranges 0-2 hold another installation's position -> feedctl "
            "ranges");
}

// ---- logs, and what reconcilers are told to do ----

TEST(Logs, AreWellWhenSomebodyReadsThem) {
  LogFacts log{.topic = "t", .group = "g", .program = "fanline-x", .members = 1};
  const auto told = [&log] { return Told(JudgeLogs({log}), "t (g)"); };
  EXPECT_EQ(told(), "well: 1 reader");
  log.members.reset();
  EXPECT_EQ(told(), "note: who reads it is not known just now");
  log.members = 0;
  EXPECT_EQ(told(), "look: nobody reads it -> start fanline-x");
  log.of_posts = false;  // an installation may do without relations
  EXPECT_EQ(told(), "note: nobody reads it -> start fanline-x");
  log.missing = "t.dlq";
  EXPECT_EQ(told(), "look: there is no topic t.dlq -> feedctl topics create");
  log.away = {"cannot reach Kafka", "start it"};
  EXPECT_EQ(told(), "away: cannot reach Kafka -> start it");
  log.asked = false;
  EXPECT_EQ(told(), "note: not known: Kafka is away");
}

TEST(JudgeLogScan, SaysUpToWhenAllShardsWereCompared) {
  const auto told = [](const std::vector<ShardFacts>& shards) {
    return Told(JudgeLogScan(shards), "log scan");
  };
  const ShardFacts young{.unscanned = std::chrono::minutes(10)};
  const ShardFacts old{.unscanned = std::chrono::minutes(70)};
  EXPECT_EQ(told({young, {.unscanned = std::chrono::minutes(12)}}),
            "well: all changes up to 12 minutes ago were compared");
  EXPECT_EQ(told({young, old}),
            "look: of shard 1 it has compared nothing newer than 70 minutes ago -> look at the "
            "reconcilers' logs");
  EXPECT_EQ(told({old, {}}),
            "note: it has never come to log1 of shard 1 -> start fanline-reconciler");
  EXPECT_EQ(told({{.away = kGone}}), "note: not known of shard 0");
}

mysql::FullScanFound Scan(const FullScanPlace& place) {
  return {"following", 1, place, 1'000, 100 * 3'600'000};
}
std::string ToldOfScans(const std::vector<ShardFacts>& shards) {
  return Told(JudgeFullScan(shards), "full scan");
}

TEST(JudgeFullScan, SaysWhenAllRowsWereComparedAndHowFarItIs) {
  constexpr UnixMs kHour = 3'600'000;
  const ShardFacts well{.full_scans = {Scan({.began = 90 * kHour, .passed = 95 * kHour})}};
  const ShardFacts under_way{
      .full_scans = {
          Scan({.after = {7, 0, 9}, .began = 96 * kHour, .compared = 400, .passed = 70 * kHour})}};
  const ShardFacts first{
      .full_scans = {Scan({.after = {7, 0, 9}, .began = 99 * kHour, .compared = 999})}};
  EXPECT_EQ(ToldOfScans({well, {}}), "well: all rows were compared 5 hours ago");
  EXPECT_EQ(ToldOfScans({well, under_way}),
            "well: all rows were compared 30 hours ago; following of shard 1 is at user 7, 40%, 6 "
            "hours left");
  EXPECT_EQ(
      ToldOfScans({well, first}),
      "well: it began 5 hours ago and has not come to the end yet; following of shard 1 is at "
      "user 7, 99%, 0 minutes left");
}

TEST(JudgeFullScan, LooksWhereItHasStoppedOrIsOld) {
  FullScanPlace place{.began = 1, .passed = 2, .stopped = "900 of 1000 rows differ"};
  EXPECT_EQ(
      ToldOfScans({{}, {.full_scans = {Scan(place)}}}),
      "look: it has stopped in following of shard 1: 900 of 1000 rows differ -> find out why, "
      "then have it go on");
  mysql::FullScanFound old = Scan({.began = 1, .passed = 2});
  old.now *= 2;
  EXPECT_EQ(ToldOfScans({{.full_scans = {old}}}),
            "look: all rows were compared 199 hours ago -> look at the reconcilers' logs");
  EXPECT_EQ(ToldOfScans({{}, {}}),
            "note: it has never begun -> start fanline-reconciler with --full-scan-rate above 0");
  EXPECT_EQ(ToldOfScans({{.away = kGone}}), "note: not known of shard 0");
}

// ---- all of them ----

TEST(Advice, IsGivenWhereSomethingIsToBeDoneAndNowhereElse) {
  Checks checks = Ranges(Redis(), Owners());
  const auto add = [&checks](const Checks& more) {
    checks.insert(checks.end(), more.begin(), more.end());
  };
  add(Ranges(Redis(), kafka::GroupOwners{}));
  add(JudgeShards({{},
                   {.away = kGone},
                   {.installed = false},
                   {.unfit = {"x", "y"}},
                   {.wrong = {"x"}},
                   {.newer = 9},
                   {.missing = {"0005_x.sql"}}}));
  add(JudgeRedis(Redis()));
  add(JudgeRedis({.refusals = {"x"}, .full = {"y"}}));
  add(JudgeLogs({{.topic = "a", .members = 1}, {.topic = "b", .missing = "b.dlq"}}));
  for (const Check& check : checks) {
    const bool to_do = check.level > Level::kNote;
    EXPECT_TRUE(check.level == Level::kNote || check.advice.empty() != to_do) << check.text;
  }
}

}  // namespace
}  // namespace fanline::feedctl
