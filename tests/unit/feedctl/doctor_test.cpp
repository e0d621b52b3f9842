// What feedctl doctor makes of facts, and how it says it.
#include "feedctl/doctor/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/oldest_record.h"
#include "feedctl/doctor/reader.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Check* Find(const Checks& checks, const std::string& name) {
  for (const Check& check : checks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

Level LevelOf(const Checks& checks, const std::string& name) {
  const Check* check = Find(checks, name);
  EXPECT_NE(check, nullptr) << name;
  return check == nullptr ? Level::kAway : check->level;
}

std::string TextOf(const Checks& checks, const std::string& name) {
  const Check* check = Find(checks, name);
  return check == nullptr ? "no " + name : check->text;
}

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

redis::RangeState Served(Range range) {
  redis::RangeState state;
  state.range = range;
  state.master = "r:1";
  state.owner = 7;
  state.position = AppliedPosition{.generation = 5, .offset = 100};
  state.readers = 10;
  state.index_complete = true;
  return state;
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

// ---- lag -------------------------------------------------------------------------------------

LogFacts Log(bool of_posts = true) {
  return {.topic = "t",
          .group = "g",
          .program = "fanline-x",
          .of_posts = of_posts,
          .members = 1,
          .committed = true,
          .waiting = 5,
          .oldest_s = 1};
}

Check Judged(const LogFacts& log) { return JudgeLogs({log}).front(); }

TEST(Lag, IsWellWhileTheOldestIsYoung) {
  EXPECT_EQ(Judged(Log()).level, Level::kWell);
  EXPECT_EQ(Judged(Log()).text, "5 records wait, the oldest for 1.0 s, 1 reader");
  LogFacts log = Log();
  log.oldest_s.reset();
  log.members.reset();
  EXPECT_EQ(Judged(log).text, "5 records wait");
}

TEST(Lag, OfAMinuteIsToBeLookedAt) {
  LogFacts log = Log();
  log.oldest_s = 60;
  EXPECT_EQ(Judged(log).level, Level::kWell);
  log.oldest_s = 61;
  EXPECT_EQ(Judged(log).level, Level::kLook);
  EXPECT_EQ(Judged(log).runbook, "delivery.md#fanlinedeliverylag");
  log.waiting = 0;
  EXPECT_EQ(Judged(log).level, Level::kWell);
  log = Log(false);
  log.oldest_s = 31;
  EXPECT_EQ(Judged(log).level, Level::kLook);
  EXPECT_EQ(Judged(log).runbook, "relations.md#fanlinefollowslate");
}

TEST(Lag, OfPartitionsThatCouldNotBeReadIsNotCalledWell) {
  LogFacts log = Log();
  log.unread = 2;
  EXPECT_EQ(Judged(log).level, Level::kNote);
  EXPECT_THAT(Judged(log).text, HasSubstr("the oldest of 2 partitions is not known"));
  log.oldest_s = 61;
  EXPECT_EQ(Judged(log).level, Level::kLook);
}

// Partitions 0 to 3: a busy one, a stuck one with a single record, one that waits for nothing, one
// whose group never committed.
std::vector<kafka::PartitionLag> Lags() {
  return {{0, 100, 0, 150}, {1, 7, 0, 8}, {2, 20, 0, 20}, {3, std::nullopt, 5, 7}};
}
constexpr UnixMs kWrittenAt[] = {9'000, 1'000, 500, 8'000};

bool InTime() { return true; }

TEST(OldestRecord, IsSoughtInEveryPartitionWhereSomethingWaits) {
  std::vector<std::pair<int32_t, int64_t>> read;
  const auto oldest = FindOldest(
      Lags(),
      [&](const kafka::LogSpan& span, UnixMs* written_at) {
        EXPECT_EQ(span.to, span.from + 1);
        read.emplace_back(span.partition, span.from);
        *written_at = kWrittenAt[span.partition];
        return FirstRecord::kRead;
      },
      InTime);
  EXPECT_EQ(oldest.written_at, 1'000);
  EXPECT_EQ(oldest.unread, 0u);
  EXPECT_THAT(read, ElementsAre(std::pair(0, 100), std::pair(3, 5), std::pair(1, 7)));
}

TEST(OldestRecord, ThatCannotBeReadHidesNoOther) {
  const auto oldest = FindOldest(
      Lags(),
      [](const kafka::LogSpan& span, UnixMs* written_at) {
        if (span.partition == 0) return FirstRecord::kNotRead;
        if (span.partition == 3) *written_at = kWrittenAt[3];  // that of 1 is gone
        return FirstRecord::kRead;
      },
      InTime);
  EXPECT_EQ(oldest.written_at, 8'000);
  EXPECT_EQ(oldest.unread, 1u);
  EXPECT_TRUE(oldest.corrupt.empty());
}

TEST(OldestRecord, ThatNobodyCanReadIsToldByItsPlace) {
  const auto oldest = FindOldest(
      Lags(),
      [](const kafka::LogSpan& span, UnixMs* written_at) {
        *written_at = kWrittenAt[span.partition];
        return span.partition == 1 ? FirstRecord::kCorrupt : FirstRecord::kRead;
      },
      InTime);
  EXPECT_EQ(oldest.written_at, 8'000);
  EXPECT_EQ(oldest.unread, 0u);
  ASSERT_EQ(oldest.corrupt.size(), 1u);
  EXPECT_EQ(oldest.corrupt[0].partition, 1);
  EXPECT_EQ(oldest.corrupt[0].from, 7);
}

TEST(Lag, BehindARecordThatNobodyCanReadSaysWhereAndWhatToDo) {
  LogFacts log = Log();
  log.members = 0;
  log.unread = 1;
  log.corrupt = {"3/17", "5/2"};
  EXPECT_EQ(Judged(log).level, Level::kLook);
  EXPECT_THAT(Judged(log).text, HasSubstr("nobody can read on at 3/17, 5/2 "));
  EXPECT_THAT(Judged(log).text, HasSubstr("5 records wait"));
  EXPECT_THAT(Judged(log).advice, HasSubstr("delete the records below"));
  EXPECT_EQ(Judged(log).runbook, "stores.md#fanlinelogunreadable");
}

TEST(OldestRecord, IsSoughtNoLongerThanThereIsTime) {
  int left = 1;
  const auto oldest = FindOldest(
      Lags(),
      [](const kafka::LogSpan& span, UnixMs* written_at) {
        *written_at = kWrittenAt[span.partition];
        return FirstRecord::kRead;
      },
      [&left] { return left-- > 0; });
  EXPECT_EQ(oldest.written_at, 9'000);
  EXPECT_EQ(oldest.unread, 2u);
  const auto none = FindOldest({}, nullptr, InTime);
  EXPECT_FALSE(none.written_at);
  EXPECT_EQ(none.unread, 0u);
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
  log.away = "cannot reach Kafka";
  EXPECT_EQ(Judged(log).level, Level::kAway);
  EXPECT_EQ(Judged(log).text, "cannot reach Kafka");
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

// ---- one reader ------------------------------------------------------------------------------

constexpr UnixMs kNow = 1'700'000'000'000;

ReaderFacts Reader() {
  ReaderFacts facts{.user = UserId{42}, .shard = 1, .bucket = 7, .range = 0, .now = kNow};
  facts.known = {true, true};
  facts.follows = 3;
  facts.counts = {3, 9};
  facts.followed = {{UserId{1}, kNow - 5'000}, {UserId{2}, 0}, {UserId{3}, kNow - 60'000, true}};
  facts.state = Served(0);
  facts.timeline.reader = facts.user;
  facts.timeline.state = TimelineState::kReady;
  facts.timeline.items = {{PostId{77}, kNow - 5'000}, {PostId{76}, kNow - 9'000}};
  facts.ttl = std::chrono::hours(100);
  facts.judged = true;
  facts.owner = kafka::GroupOwner{"fanline-pusher-h-1", "h"};
  facts.hints_waiting = 0;
  return facts;
}

TEST(Reader, WhoIsWellIsToldWhole) {
  const Checks checks = JudgeReader(Reader());
  EXPECT_EQ(ExitCodeOf(checks), 0);
  EXPECT_EQ(TextOf(checks, "user 42"), "bucket 7, range 0, MariaDB shard 1");
  EXPECT_THAT(TextOf(checks, "follows"),
              HasSubstr("3 users, 2 of them posted, 1 of them merged at read; the last post at "));
  EXPECT_THAT(TextOf(checks, "follows"), HasSubstr("5.0 s ago"));
  EXPECT_THAT(TextOf(checks, "state"), HasSubstr("live, 2 items, no floor: nothing older exists"));
  EXPECT_THAT(TextOf(checks, "newest items"), HasSubstr("post 77, created "));
  EXPECT_EQ(TextOf(checks, "compared"), "holds what the shards say");
  EXPECT_EQ(TextOf(checks, "range 0"), "owned by fanline-pusher-h-1@h");
  EXPECT_EQ(TextOf(checks, "lives for"), "6,000 minutes more, unless it is read");
  EXPECT_EQ(Find(checks, "counter"), nullptr);
}

TEST(Reader, WhoIsSampledIsToldSo) {
  ReaderFacts facts = Reader();
  EXPECT_EQ(Find(JudgeReader(facts), "sampled"), nullptr);
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), Not(HasSubstr("one in")));
  facts.one_in = 8;
  facts.timeline.one_in = 4;  // the timeline of before is not dropped yet
  EXPECT_EQ(TextOf(JudgeReader(facts), "sampled"), "one in 8 posts of others is wanted");
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("; holds one in 4 posts of others"));
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 0);
}

TEST(Reader, WithAFloorIsCompleteAboveIt) {
  ReaderFacts facts = Reader();
  facts.timeline.floor = kNow - 86'400'000;
  facts.timeline.marks.authors = {UserId{3}};
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("complete above 2023-11-13"));
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("1 author merged at read"));
}

TEST(Reader, WhoFollowsMoreThanCanBeReadIsComparedWithoutPosts) {
  ReaderFacts facts = Reader();
  facts.judged = false;
  EXPECT_EQ(TextOf(JudgeReader(facts), "compared"), "not with the truth");
  facts.too_much = true;
  EXPECT_EQ(LevelOf(JudgeReader(facts), "compared"), Level::kNote);
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), HasSubstr("but for its posts"));
  facts.differences = {{.reader = facts.user, .kind = audit::Kind::kSample, .held = 4}};
  EXPECT_EQ(LevelOf(JudgeReader(facts), "compared"), Level::kLook);
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), HasSubstr("one in 4 posts of others"));
}

TEST(Reader, WhoIsNotLiveIsNoFault) {
  ReaderFacts facts = Reader();
  facts.timeline = {};
  facts.judged = false;
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 0);
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("not live"));
  EXPECT_EQ(Find(JudgeReader(facts), "state")->advice, "feedctl activate 42");
  facts.timeline.state = TimelineState::kBuilding;
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("being made live"));
}

TEST(Reader, WhoseKeyIsNoTimelineIsToBeLookedAt) {
  ReaderFacts facts = Reader();
  facts.timeline.problem = "WRONGTYPE";
  EXPECT_EQ(LevelOf(JudgeReader(facts), "state"), Level::kLook);
}

TEST(Reader, WhomPushesPassOverIsToBeLookedAt) {
  ReaderFacts facts = Reader();
  facts.indexed = false;
  EXPECT_EQ(LevelOf(JudgeReader(facts), "index"), Level::kLook);
  facts = Reader();
  facts.ttl.reset();
  EXPECT_EQ(LevelOf(JudgeReader(facts), "lives for"), Level::kLook);
  facts = Reader();
  facts.owner.reset();
  EXPECT_EQ(LevelOf(JudgeReader(facts), "range 0"), Level::kLook);
  facts = Reader();
  facts.counts.following = 4;
  EXPECT_EQ(LevelOf(JudgeReader(facts), "counter"), Level::kLook);
}

TEST(Reader, WhoseRangeIsBeingSharedOutIsNoFault) {
  ReaderFacts facts = Reader();
  facts.owner.reset();
  facts.owner_known = false;
  EXPECT_EQ(LevelOf(JudgeReader(facts), "range 0"), Level::kNote);
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 0);
}

TEST(Reader, WithoutATopicOfHintsIsNotToldThatKafkaIsAway) {
  ReaderFacts facts = Reader();
  facts.owner.reset();
  facts.hints_waiting.reset();
  facts.tasks_exist = false;
  const Checks checks = JudgeReader(facts);
  EXPECT_EQ(ExitCodeOf(checks), 1);
  EXPECT_EQ(LevelOf(checks, "hints"), Level::kLook);
  EXPECT_EQ(Find(checks, "hints")->advice, "feedctl topics create");
  EXPECT_EQ(Find(checks, "range 0"), nullptr) << "nobody can own it";
}

TEST(Reader, WhoMissesAPostMayWaitForAHint) {
  ReaderFacts facts = Reader();
  audit::Difference missing{.reader = facts.user, .kind = audit::Kind::kMissing};
  missing.item = {PostId{78}, kNow};
  facts.differences = {missing};
  EXPECT_EQ(LevelOf(JudgeReader(facts), "compared"), Level::kLook);
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), HasSubstr("1 difference: "));
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), HasSubstr("post 78"));
  EXPECT_THAT(Find(JudgeReader(facts), "compared")->advice, HasSubstr("audit --repair"));
  facts.hints_waiting = 3;
  EXPECT_THAT(Find(JudgeReader(facts), "compared")->advice, HasSubstr("hints wait"));
}

TEST(Reader, IsToldAsFarAsServicesAnswer) {
  ReaderFacts facts = Reader();
  facts.truth_away = "cannot reach MariaDB shard 1";
  facts.redis_away = "cannot reach Redis";
  facts.kafka_away = "cannot reach Kafka";
  const Checks checks = JudgeReader(facts);
  EXPECT_EQ(ExitCodeOf(checks), 69);
  EXPECT_EQ(LevelOf(checks, "truth"), Level::kAway);
  EXPECT_EQ(LevelOf(checks, "Redis"), Level::kAway);
  EXPECT_EQ(LevelOf(checks, "Kafka"), Level::kAway);
  EXPECT_EQ(Find(checks, "state"), nullptr);
}

}  // namespace
}  // namespace fanline::feedctl
