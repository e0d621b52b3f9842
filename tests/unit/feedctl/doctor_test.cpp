// What feedctl doctor makes of facts about services, and how it says it.
#include "feedctl/doctor/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/postpone.h"
#include "feedctl/doctor/reader.h"
#include "feedctl/support/failure.h"
#include "tests/unit/feedctl/checks.h"

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// ---- how it is said --------------------------------------------------------------------------

const Check kWell{"stores", "Redis", Level::kWell, "here", "never said", "never.md"};
const Check kNote{"stores", "Redis", Level::kNote, "dear"};
const Check kLook{"lag", "feed", Level::kLook, "late", "type this", "delivery.md#x"};
const Check kInit{"stores", "shard", Level::kInit, "empty", "feedctl init"};
const Check kAway{"lag", "tasks", Level::kAway, "gone"};

std::string Text(const Checks& checks) { return ToText(checks, "docs"); }

TEST(Checks, EndWithTheWorstOfThem) {
  EXPECT_EQ(ExitCodeOf({}), 0);
  EXPECT_EQ(ExitCodeOf({kWell, kNote}), 0);
  EXPECT_EQ(ExitCodeOf({kWell, kLook}), 1);
  EXPECT_EQ(ExitCodeOf({kInit, kLook, kWell}), 78);
  EXPECT_EQ(ExitCodeOf({kLook, kAway, kInit, kWell}), 69);
}

TEST(Checks, SayWhatToTypeOnlyWhereItIsNeeded) {
  const std::string text = Text({kWell, kNote, kLook, kAway});
  EXPECT_THAT(text, HasSubstr("stores\n  ok    Redis"));
  EXPECT_THAT(text, HasSubstr("lag\n  LOOK  feed"));
  EXPECT_THAT(text, HasSubstr("-> type this\n"));
  EXPECT_THAT(text, HasSubstr("docs/runbooks/delivery.md#x\n"));
  EXPECT_THAT(text, Not(HasSubstr("never")));
  EXPECT_THAT(text, HasSubstr("1 thing could not be asked, 1 thing to look at\n"));
  EXPECT_THAT(Text({kWell, kNote}), HasSubstr("all is well\n"));
  EXPECT_THAT(Text({kLook, kLook}), HasSubstr("\n2 things to look at\n"));
  EXPECT_THAT(Text({kInit, kLook}), HasSubstr("\n  INIT  shard"));
  EXPECT_THAT(Text({kInit, kLook}),
              HasSubstr("\nfeedctl init has not been run, 1 thing to look at\n"));
}

TEST(Checks, AreOneLineEach) {
  EXPECT_THAT(Text({{"s", "n", Level::kWell, "a\nb\x1b[2J"}}), HasSubstr("a?b?[2J\n"));
}

TEST(Checks, StandInAColumnHoweverLongANameIs) {
  const std::string text = Text({{"lag", "a name of thirty characters ..", Level::kWell, "first"},
                                 {"lag", "short", Level::kLook, "second", "type"},
                                 {"stores", "short", Level::kWell, "third"}});
  EXPECT_THAT(text, HasSubstr("  ok    a name of thirty characters ..  first\n"));
  EXPECT_THAT(text, HasSubstr("  LOOK  short                           second\n"
                              "                                        -> type\n"));
  EXPECT_THAT(text, HasSubstr("  ok    short                   third\n"));
}

TEST(Checks, NamePagesWhereTheyAre) {
  EXPECT_THAT(ToText({kLook}, "/elsewhere"), HasSubstr("  /elsewhere/runbooks/delivery.md#x\n"));
  EXPECT_EQ(ToJson({kLook}, "/elsewhere")["checks"][0]["runbook"],
            "/elsewhere/runbooks/delivery.md#x");
}

TEST(Complaints, AreCutIntoWhatIsWrongAndWhatToType) {
  EXPECT_EQ(WhyOf("it is full; give it more; at once", "wait").text, "it is full");
  EXPECT_EQ(WhyOf("it is full; give it more; at once", "wait").advice, "give it more; at once");
  EXPECT_EQ(WhyOf("it is full", "wait").text, "it is full");
  EXPECT_EQ(WhyOf("it is full", "wait").advice, "wait");
}

TEST(Checks, AreJsonToo) {
  const Json json = ToJson({kNote, kLook, kWell, kInit}, "docs");
  EXPECT_EQ(json["well"], false);
  EXPECT_EQ(json["look"], 1);
  EXPECT_EQ(json["away"], 0);
  EXPECT_EQ(json["not_installed"], 1);
  EXPECT_EQ(json["checks"][0]["advice"], nullptr);
  EXPECT_EQ(json["checks"][1]["level"], "look");
  EXPECT_EQ(json["checks"][1]["runbook"], "docs/runbooks/delivery.md#x");
  EXPECT_EQ(json["checks"][2]["advice"], nullptr) << "all is well";
  EXPECT_EQ(json["checks"][2]["runbook"], nullptr);
  EXPECT_EQ(json["checks"][3]["level"], "not_installed");
  EXPECT_EQ(ToJson({kNote}, "docs")["well"], true);
}

TEST(Ranges, AreListedInRuns) {
  EXPECT_EQ(Listed({4}), "range 4");
  EXPECT_EQ(Listed({7, 3, 5, 6, 1}), "ranges 1, 3, 5-7");
  EXPECT_EQ(Listed({0, 1}), "ranges 0, 1");
  EXPECT_EQ(Listed("shard", {2, 0}), "shards 0, 2");
}

// ---- stores ----------------------------------------------------------------------------------

const Why kGone{"cannot reach it", "start it"};

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
  const Checks checks = JudgeShards({{.wrong = {"its schema_version is 4", "drop timelines"}}});
  EXPECT_EQ(Find(checks, "MariaDB shard 0")->advice, "drop timelines");
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

RedisFacts Redis() { return {.address = "r:1", .ranges = {Served(0), Served(1), Served(2)}}; }

kafka::GroupOwners Owners() {
  const kafka::GroupOwner owner{"fanline-pusher-h-1", "h"};
  return {{0, owner}, {1, owner}, {2, owner}};
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

TEST(Redis, TellsHowMuchOfItsMemoryItUses) {
  constexpr uint64_t kMiB = 1 << 20;
  RedisFacts redis = Redis();
  EXPECT_EQ(JudgeRedis(redis)[0].text, "r:1") << "it does not tell";
  redis.memory = {{"r:1", 3 * kMiB - 100, 1000 * kMiB}};
  EXPECT_EQ(JudgeRedis(redis)[0].text, "r:1; 3 of 1,000 MiB used");
  redis.memory[0].most = 0;
  EXPECT_EQ(JudgeRedis(redis)[0].text, "r:1; 3 MiB used, no maxmemory");
  redis.memory = {{"r:1", 5 * kMiB, 0}, {"r:2", 3 * kMiB, 4 * kMiB}, {"r:3", 4 * kMiB, 8 * kMiB}};
  EXPECT_EQ(JudgeRedis(redis)[0].text, "r:1; 3 of 4 MiB used by r:2, the fullest");
}

TEST(Redis, ThatIsNearlyFullIsToBeLookedAt) {
  RedisFacts redis = Redis();
  redis.nearly_full = {"redis a:1: is nearly full; CONFIG SET maxmemory"};
  redis.warnings = {"dear"};
  const Checks checks = OfLevel(Level::kLook, JudgeRedis(redis));
  ASSERT_EQ(checks.size(), 1u) << "and nothing else";
  EXPECT_EQ(checks[0].text, "redis a:1: is nearly full");
  EXPECT_EQ(checks[0].advice, "CONFIG SET maxmemory");
  EXPECT_EQ(checks[0].runbook, "delivery.md#fanlineredisfull");
  EXPECT_TRUE(OfLevel(Level::kLook, JudgeRedis(Redis())).empty());
}

TEST(Redis, ThatIsFullIsToBeLookedAtAndTheRunbookSaysWhatToType) {
  RedisFacts redis = Redis();
  redis.full = {"redis a:1: is full; CONFIG SET maxmemory"};
  const Checks checks = JudgeRedis(redis);
  ASSERT_EQ(checks.size(), 1u) << "not well besides";
  EXPECT_EQ(checks[0].level, Level::kLook);
  EXPECT_EQ(checks[0].text, "redis a:1: is full");
  EXPECT_EQ(checks[0].advice, "CONFIG SET maxmemory");
  EXPECT_EQ(checks[0].runbook, "delivery.md#fanlineredisfull");
}

// ---- owners ----------------------------------------------------------------------------------

mysql::Installation ThreeRanges(uint64_t generation) {
  mysql::Installation installation;
  installation.partitions = 3;
  installation.generation = generation;
  return installation;
}

// So that a test names only what it is about.
Checks Ranges(const RedisFacts& redis, uint64_t generation,
              const std::optional<kafka::GroupOwners>& owners,
              const std::vector<ShardFacts>& shards) {
  return JudgeRanges(ThreeRanges(generation), redis, {.owners = owners}, shards);
}

TEST(Owners, AreWellWhenEveryRangeHasOneAndWasClaimed) {
  const Checks checks = Ranges(Redis(), 5, Owners(), {{}});
  EXPECT_EQ(LevelOf(checks, "pushers"), Level::kWell);
  EXPECT_EQ(TextOf(checks, "pushers"), "1 pusher for 3 ranges");
  EXPECT_EQ(TextOf(checks, "takeovers"), "30 live timelines, every range is claimed");
  EXPECT_EQ(LevelOf(checks, "takeovers"), Level::kWell);
  EXPECT_EQ(LevelOf(checks, "crashes"), Level::kWell);
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
  EXPECT_EQ(LevelOf(no_redis, "crashes"), Level::kWell);
  const Checks no_kafka = JudgeRanges(three, Redis(), {.away = true}, {{}});
  EXPECT_EQ(LevelOf(no_kafka, "pushers"), Level::kNote);
  EXPECT_EQ(TextOf(no_kafka, "pushers"), "not known: Kafka is away");
  EXPECT_EQ(LevelOf(no_kafka, "takeovers"), Level::kWell);
}

TEST(Owners, OfAnInstallationThatNobodyKnowsSayWhy) {
  const auto texts = [](const std::vector<ShardFacts>& shards) {
    const Checks checks = JudgeRanges(std::nullopt, Redis(), {.owners = Owners()}, shards);
    for (const Check& check : checks) EXPECT_EQ(check.level, Level::kNote) << check.name;
    EXPECT_EQ(checks.size(), 3u);
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

const std::vector<ShardFacts> kSilent = {{.away = kGone},
                                         {.wrong = {"another's"}},
                                         {.installed = false},
                                         {.missing = {"0002_x.sql"}, .read = false}};

TEST(Owners, ThatCrashedAreNotKnownOfAShardThatIsAwayOrAnothers) {
  for (const ShardFacts& bad : kSilent) {
    const Checks unknown = Ranges(Redis(), 5, Owners(), {{}, bad});
    EXPECT_EQ(LevelOf(unknown, "crashes"), Level::kNote);
    EXPECT_EQ(TextOf(unknown, "crashes"), "not known of MariaDB shard 1");
    const Checks crashed = Ranges(Redis(), 5, Owners(), {{.crashes = {{4, 2}}}, bad});
    EXPECT_EQ(LevelOf(crashed, "crashes"), Level::kLook);
  }
}

TEST(Owners, ThatStartedTwiceWithoutAnEndHaveCrashed) {
  ShardFacts shard;
  shard.crashes = {{3, 1}};
  EXPECT_EQ(LevelOf(Ranges(Redis(), 5, Owners(), {shard}), "crashes"), Level::kWell);
  shard.crashes = {{3, 1}, {4, 2}};
  const Checks crashed = Ranges(Redis(), 5, Owners(), {shard});
  EXPECT_EQ(LevelOf(crashed, "crashes"), Level::kLook);
  EXPECT_THAT(TextOf(crashed, "crashes"), HasSubstr("while they owned range 4"));
  EXPECT_THAT(Find(crashed, "crashes")->advice, HasSubstr("journalctl -u fanline-pusher"));
}

// ---- dead letters, relations -----------------------------------------------------------------

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
  EXPECT_EQ(LevelOf(late, "changes"), Level::kLook);
  EXPECT_THAT(TextOf(late, "changes"), HasSubstr("31.0 s"));
}

TEST(Relations, DoNotSayThatNoChangeWaitsWhereTheyCannotSee) {
  ShardFacts young, old;
  young.oldest_change_s = 2;
  old.oldest_change_s = 31;
  for (const ShardFacts& bad : kSilent) {
    const Checks none = JudgeRelations({{}, bad}, {});
    EXPECT_EQ(LevelOf(none, "changes"), Level::kNote);
    EXPECT_EQ(TextOf(none, "changes"), "not known of MariaDB shard 1");
    const Checks some = JudgeRelations({young, bad}, {});
    EXPECT_EQ(LevelOf(some, "changes"), Level::kNote);
    EXPECT_THAT(TextOf(some, "changes"), HasSubstr("2.0 s; not known of MariaDB shard 1"));
    EXPECT_EQ(LevelOf(JudgeRelations({old, bad}, {}), "changes"), Level::kLook);
  }
}

TEST(Relations, MindAReconcilerThatDoesNotRun) {
  EXPECT_EQ(LevelOf(JudgeRelations({{}}, {}), "reconciler"), Level::kWell);
  const Checks paused = JudgeRelations({{}}, {.reconciler = ReconcilerMode::kPause});
  EXPECT_EQ(LevelOf(paused, "reconciler"), Level::kNote);
  EXPECT_EQ(TextOf(paused, "reconciler"), "pause");
  EXPECT_EQ(Find(paused, "reconciler")->advice, "feedctl relations reconciler run");
}

// ---- advice ----------------------------------------------------------------------------------

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
      "take the feedctl of that version; its feedctl migrate ends what was begun"};
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

// ---- daemons ---------------------------------------------------------------------------------

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

TEST(Daemons, ThatAreNotReadySayWhy) {
  const Checks store = OfDaemon(
      "fanline_ready{condition=\"mysql_1\"} 0\nfanline_ready{condition=\"loop\"} 1\n"
      "fanline_ready{condition=\"ranges\"} 0\n");
  ASSERT_EQ(store.size(), 2u);
  EXPECT_EQ(store[1].level, Level::kLook);
  EXPECT_EQ(store[1].text, "not ready: mysql_1, ranges");
  EXPECT_EQ(store[1].runbook, "stores.md#fanlinestoreaway");
  EXPECT_EQ(OfDaemon("fanline_ready{condition=\"loop\"} 0\n")[1].runbook,
            "daemons.md#fanlinenotready");
}

TEST(Daemons, GaugesThatAreNotZeroAreToBeLookedAt) {
  const Checks checks = OfDaemon(
      "fanline_rel_breaker_open{shard=\"0\"} 0\nfanline_rel_breaker_open{shard=\"1\"} 1\n"
      "fanline_sampled_misses_per_10000 2.5\nfanline_ranges_paused{cause=\"buffered\"} 3\n"
      "fanline_ranges_paused{cause=\"parked\"} 2\n");
  std::vector<std::string> texts;
  for (const Check& check : checks) {
    if (check.level == Level::kLook) texts.push_back(check.text);
  }
  EXPECT_THAT(texts, ElementsAre("1 an open breaker: 1", "2.5 of 10,000 sampled items missing",
                                 "2 ranges paused: parked"));
  EXPECT_EQ(OfDaemon("fanline_sampled_misses_per_10000 NaN\n").size(), 1u);
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
