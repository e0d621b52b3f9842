// What feedctl doctor makes of facts about services, and how it says it.
#include "feedctl/doctor/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
const Check kAway{"lag", "tasks", Level::kAway, "gone"};

TEST(Checks, EndWithTheWorstOfThem) {
  EXPECT_EQ(ExitCodeOf({}), 0);
  EXPECT_EQ(ExitCodeOf({kWell, kNote}), 0);
  EXPECT_EQ(ExitCodeOf({kWell, kLook}), 1);
  EXPECT_EQ(ExitCodeOf({kLook, kAway, kWell}), 69);
}

TEST(Checks, SayWhatToTypeOnlyWhereItIsNeeded) {
  const std::string text = ToText({kWell, kNote, kLook, kAway});
  EXPECT_THAT(text, HasSubstr("stores\n  ok    Redis"));
  EXPECT_THAT(text, HasSubstr("lag\n  LOOK  feed"));
  EXPECT_THAT(text, HasSubstr("-> type this\n"));
  EXPECT_THAT(text, HasSubstr("docs/runbooks/delivery.md#x\n"));
  EXPECT_THAT(text, Not(HasSubstr("never")));
  EXPECT_THAT(text, HasSubstr("1 thing could not be asked, 1 thing to look at\n"));
  EXPECT_THAT(ToText({kWell, kNote}), HasSubstr("all is well\n"));
  EXPECT_THAT(ToText({kLook, kLook}), HasSubstr("\n2 things to look at\n"));
}

TEST(Checks, AreOneLineEach) {
  EXPECT_THAT(ToText({{"s", "n", Level::kWell, "a\nb\x1b[2J"}}), HasSubstr("a?b?[2J\n"));
}

TEST(Checks, AreJsonToo) {
  const Json json = ToJson({kNote, kLook});
  EXPECT_EQ(json["well"], false);
  EXPECT_EQ(json["look"], 1);
  EXPECT_EQ(json["away"], 0);
  EXPECT_EQ(json["checks"][0]["advice"], nullptr);
  EXPECT_EQ(json["checks"][1]["level"], "look");
  EXPECT_EQ(json["checks"][1]["runbook"], "docs/runbooks/delivery.md#x");
  EXPECT_EQ(ToJson({kNote})["well"], true);
}

TEST(Ranges, AreListedInRuns) {
  EXPECT_EQ(Listed({4}), "range 4");
  EXPECT_EQ(Listed({7, 3, 5, 6, 1}), "ranges 1, 3, 5-7");
  EXPECT_EQ(Listed({0, 1}), "ranges 0, 1");
}

// ---- stores ----------------------------------------------------------------------------------

TEST(Shards, AreToldApart) {
  const Checks checks = JudgeShards({{.address = "a:1/x"},
                                     {.address = "b:1/x", .away = "cannot reach it"},
                                     {.address = "c:1/x", .wrong = "another installation"}});
  EXPECT_EQ(LevelOf(checks, "MariaDB shard 0"), Level::kWell);
  EXPECT_EQ(LevelOf(checks, "MariaDB shard 1"), Level::kAway);
  EXPECT_EQ(LevelOf(checks, "MariaDB shard 2"), Level::kLook);
  EXPECT_EQ(TextOf(checks, "MariaDB shard 2"), "another installation");
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
  redis.warnings = {"dear"};
  const Checks checks = JudgeRedis(redis);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].level, Level::kAway);
  EXPECT_EQ(checks[0].text, "ranges 1, 2: no node serves it");
  EXPECT_EQ(checks[1].level, Level::kNote);
}

TEST(Redis, ThatPushersRefuseIsToBeLookedAt) {
  RedisFacts redis = Redis();
  redis.refusals = {"evicts keys"};
  EXPECT_EQ(JudgeRedis(redis)[0].level, Level::kLook);
  EXPECT_EQ(JudgeRedis({.away = "gone"})[0].level, Level::kAway);
}

TEST(Redis, ThatIsFullIsToBeLookedAtAndTheRunbookSaysWhatToType) {
  RedisFacts redis = Redis();
  redis.full = {"redis a:1: is full"};
  const Checks checks = JudgeRedis(redis);
  ASSERT_EQ(checks.size(), 1u) << "not well besides";
  EXPECT_EQ(checks[0].level, Level::kLook);
  EXPECT_EQ(checks[0].text, "redis a:1: is full");
  EXPECT_EQ(checks[0].runbook, "delivery.md#fanlineredisfull");
}

// ---- owners ----------------------------------------------------------------------------------

TEST(Owners, AreWellWhenEveryRangeHasOneAndWasClaimed) {
  const Checks checks = JudgeRanges(Redis(), 5, Owners(), {{}});
  EXPECT_EQ(LevelOf(checks, "pushers"), Level::kWell);
  EXPECT_EQ(TextOf(checks, "pushers"), "1 pusher for 3 ranges");
  EXPECT_EQ(TextOf(checks, "takeovers"), "30 live timelines, every range is claimed");
  EXPECT_EQ(LevelOf(checks, "takeovers"), Level::kWell);
  EXPECT_EQ(LevelOf(checks, "crashes"), Level::kWell);
}

TEST(Owners, ThatAreMissingAreNamed) {
  auto owners = Owners();
  owners.erase(1);
  const Checks some = JudgeRanges(Redis(), 5, owners, {});
  EXPECT_EQ(LevelOf(some, "pushers"), Level::kLook);
  EXPECT_THAT(TextOf(some, "pushers"), HasSubstr("nobody has range 1"));
  EXPECT_EQ(Find(some, "pushers")->advice, "feedctl ranges");
  const Checks none = JudgeRanges(Redis(), 5, kafka::GroupOwners{}, {});
  EXPECT_EQ(Find(none, "pushers")->advice, "start fanline-pusher");
}

TEST(Owners, ThatAreNotKnownAreNoFault) {
  const Checks checks = JudgeRanges(Redis(), 5, std::nullopt, {});
  EXPECT_EQ(LevelOf(checks, "pushers"), Level::kNote);
  EXPECT_EQ(ExitCodeOf(checks), 0);
}

TEST(Owners, OfARangeThatNobodyTookOverAreToBeLookedAt) {
  RedisFacts redis = Redis();
  redis.ranges[2].position.reset();
  EXPECT_THAT(TextOf(JudgeRanges(redis, 5, Owners(), {}), "takeovers"),
              HasSubstr("no pusher has claimed range 2"));
  EXPECT_EQ(LevelOf(JudgeRanges(redis, 5, Owners(), {}), "takeovers"), Level::kLook);
  const Checks foreign = JudgeRanges(Redis(), 6, Owners(), {});
  EXPECT_EQ(LevelOf(foreign, "takeovers"), Level::kLook);
  EXPECT_THAT(TextOf(foreign, "takeovers"), HasSubstr("another installation's"));
}

TEST(Owners, OfARangeThatIsAwayAreNotJudged) {
  RedisFacts redis = Redis();
  redis.ranges[2].position.reset();
  redis.ranges[2].status = Status::Later("redis", "gone");
  EXPECT_EQ(LevelOf(JudgeRanges(redis, 5, Owners(), {}), "takeovers"), Level::kWell);
  redis.away = "all of it";
  EXPECT_EQ(Find(JudgeRanges(redis, 5, Owners(), {}), "takeovers"), nullptr);
}

TEST(Owners, ThatCrashedAreNotKnownOfAShardThatIsAwayOrAnothers) {
  for (const ShardFacts& bad : {ShardFacts{.away = "gone"}, ShardFacts{.wrong = "another's"}}) {
    const Checks unknown = JudgeRanges(Redis(), 5, Owners(), {{}, bad});
    EXPECT_EQ(LevelOf(unknown, "crashes"), Level::kNote);
    EXPECT_EQ(TextOf(unknown, "crashes"), "not known of every shard");
    const Checks crashed = JudgeRanges(Redis(), 5, Owners(), {{.crashes = {{4, 2}}}, bad});
    EXPECT_EQ(LevelOf(crashed, "crashes"), Level::kLook);
  }
}

TEST(Owners, ThatStartedTwiceWithoutAnEndHaveCrashed) {
  ShardFacts shard;
  shard.crashes = {{3, 1}};
  EXPECT_EQ(LevelOf(JudgeRanges(Redis(), 5, Owners(), {shard}), "crashes"), Level::kWell);
  shard.crashes = {{3, 1}, {4, 2}};
  const Checks crashed = JudgeRanges(Redis(), 5, Owners(), {shard});
  EXPECT_EQ(LevelOf(crashed, "crashes"), Level::kLook);
  EXPECT_THAT(TextOf(crashed, "crashes"), HasSubstr("owners of range 4 ended"));
}

// ---- dead letters, relations -----------------------------------------------------------------

TEST(DeadLetters, ThatWaitAreToBeLookedAt) {
  const Checks none = JudgeLetters({{.topic = "a.dlq"}, {.topic = "b.dlq"}}, "24h");
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].level, Level::kWell);
  const Checks some = JudgeLetters({{.topic = "a.dlq"}, {.topic = "b.dlq", .waiting = 2}}, "24h");
  EXPECT_EQ(LevelOf(some, "b.dlq"), Level::kLook);
  EXPECT_EQ(Find(some, "b.dlq")->advice, "feedctl dlq list --topic b.dlq --since 24h");
  EXPECT_EQ(LevelOf(some, "others"), Level::kWell);
  const Checks away = JudgeLetters({{.topic = "a.dlq", .away = "gone"}}, "24h");
  ASSERT_EQ(away.size(), 1u);
  EXPECT_EQ(away[0].level, Level::kAway);
}

TEST(DeadLetters, OfWhichOnlyTheNewestWereLookedAtAreNotCalledNone) {
  const LetterFacts some{.topic = "a.dlq", .waiting = 2, .more = true};
  EXPECT_THAT(TextOf(JudgeLetters({some}, "24h"), "a.dlq"), HasSubstr("at least 2 letters"));
  const Checks none = JudgeLetters({{.topic = "a.dlq", .more = true}}, "24h");
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(LevelOf(none, "a.dlq"), Level::kLook);
  EXPECT_EQ(Find(none, "a.dlq")->advice, "feedctl dlq list --topic a.dlq --since 24h");
}

TEST(DeadLetters, WithoutATopicAreToBeLookedAt) {
  const Checks checks =
      JudgeLetters({{.topic = "a.dlq"}, {.topic = "b.dlq", .exists = false}}, "1h");
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
  EXPECT_EQ(LevelOf(JudgeRelations({{.away = "gone"}}, {}), "breakers"), Level::kNote);
  EXPECT_EQ(LevelOf(JudgeRelations({{.wrong = "another's"}}, {}), "breakers"), Level::kNote);
  EXPECT_EQ(LevelOf(JudgeRelations({{}}, {.away = "gone"}), "breakers"), Level::kNote);
  EXPECT_EQ(Find(JudgeRelations({{}}, {.away = "gone"}), "reconciler"), nullptr);
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
  for (const ShardFacts& bad : {ShardFacts{.away = "gone"}, ShardFacts{.wrong = "another's"}}) {
    const Checks none = JudgeRelations({{}, bad}, {});
    EXPECT_EQ(LevelOf(none, "changes"), Level::kNote);
    EXPECT_EQ(TextOf(none, "changes"), "not known of every shard");
    const Checks some = JudgeRelations({young, bad}, {});
    EXPECT_EQ(LevelOf(some, "changes"), Level::kNote);
    EXPECT_THAT(TextOf(some, "changes"), HasSubstr("2.0 s; not known of every shard"));
    EXPECT_EQ(LevelOf(JudgeRelations({old, bad}, {}), "changes"), Level::kLook);
  }
}

TEST(Relations, MindAReconcilerThatDoesNotRun) {
  EXPECT_EQ(LevelOf(JudgeRelations({{}}, {}), "reconciler"), Level::kWell);
  const Checks paused = JudgeRelations({{}}, {.reconciler = ReconcilerMode::kPause});
  EXPECT_EQ(LevelOf(paused, "reconciler"), Level::kNote);
  EXPECT_EQ(TextOf(paused, "reconciler"), "pause");
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
