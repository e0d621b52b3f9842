#include "feedctl/support/explain.h"

#include <gmock/gmock.h>

namespace fanline::feedctl {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Explained = std::pair<int, std::string>;  // exit code and line

Explained Explain(const Status& status) {
  Settings settings;
  settings.kafka.brokers = "k1:9092,k2:9092";
  settings.redis.seeds = {"r1:6379"};
  settings.mysql.shards = "tcp://m0:3306/feed,tcp://m1:3307/feed";
  const Failure failure = feedctl::Explain(status, settings);
  return {failure.exit_code(), failure.what()};
}

Status Failed(const char* resource, const char* message, Cause cause, const char* advice = "") {
  Status status = Status::Later(resource, message);
  status.cause = cause;
  status.advice = advice;
  return status;
}

TEST(Explain, AServiceThatIsAwayIsNamedWithItsAddressAndWhatToDo) {
  EXPECT_EQ(Explain(Failed("redis", "redis r2:6379: Connection refused", Cause::kAway, "start it")),
            Explained(69, "cannot reach Redis at r2:6379: connection refused; start it"));
  EXPECT_EQ(Explain(Failed("mysql_1", "SQL error 2002: no connection", Cause::kAway, "start it")),
            Explained(69, "cannot reach shard 1 at m1:3307/feed: no connection; start it"));
  EXPECT_EQ(Explain(Failed("kafka", "looking up topic x: no answer (_TRANSPORT)", Cause::kAway,
                           "start it")),
            Explained(69, "cannot reach Kafka at k1:9092,k2:9092: no answer; start it"));
}

TEST(Explain, WhatRefusesIsReachedAllTheSame) {
  EXPECT_EQ(Explain(Failed("redis", "MISCONF Redis is configured to save", Cause::kOther)),
            Explained(69, "Redis at r1:6379: MISCONF Redis is configured to save"));
  EXPECT_EQ(Explain(Failed("mysql_0", "SQL error 1205: Lock wait timeout exceeded", Cause::kOther)),
            Explained(69, "shard 0 at m0:3306/feed: SQL error 1205: Lock wait timeout exceeded"));
}

TEST(Explain, WhatOnlyTheOperatorCanMendIsAMatterOfConfiguration) {
  for (const Cause cause : {Cause::kTurnedAway, Cause::kNoLogin, Cause::kSetting}) {
    const auto [code, line] = Explain(Failed("mysql_0", "SQL error 1045: no", cause, "do x"));
    EXPECT_EQ(code, 78);
    EXPECT_EQ(line, "shard 0 at m0:3306/feed: SQL error 1045: no; do x");
  }
}

TEST(Explain, ANodeThatTurnsUsAwayIsNamedOnce) {
  EXPECT_EQ(Explain(Failed("redis", "redis r2:6379: TLS: x", Cause::kTurnedAway, "do y")).second,
            "Redis at r2:6379: TLS: x; do y");
}

TEST(Explain, ARedisThatIsFullIsToBeGivenMemory) {
  const auto full = Explain(Failed("redis", "OOM command not allowed", Cause::kFull));
  EXPECT_EQ(full.first, 69);
  EXPECT_THAT(full.second,
              AllOf(StartsWith("Redis at r1:6379: it is full (maxmemory)"),
                    HasSubstr("FanlineRedisFull in " + DocsFolder() + "/runbooks/delivery.md"),
                    Not(HasSubstr("OOM"))));
}

TEST(Explain, IsToldInTwoWhereTheAdviceStandsApart) {
  Settings settings;
  settings.redis.seeds = {"r1:6379"};
  const auto away =
      ExplanationOf(Failed("redis", "redis r1:6379: Refused", Cause::kAway, "start it"), settings);
  EXPECT_EQ(away.what, "cannot reach Redis at r1:6379: refused");
  EXPECT_EQ(away.advice, "start it");
  EXPECT_EQ(ExplanationOf(Status::Never("no"), settings).advice, "");
}

TEST(Explain, AServiceThatDoesNotSayOneThingMaySayOthers) {
  const auto silent = [](Cause cause) {
    return ExplanationOf(Failed("kafka", "topic x: no (CODE)", cause), {}).silent;
  };
  EXPECT_TRUE(silent(Cause::kAway));
  EXPECT_TRUE(silent(Cause::kTurnedAway)) << "of whom nothing can be asked";
  EXPECT_FALSE(silent(Cause::kSetting));
  EXPECT_FALSE(silent(Cause::kOther));
}

TEST(Explain, WhatCanNeverWorkHasTheCodeOfTheCaller) {
  EXPECT_EQ(feedctl::Explain(Status::Never("no"), Settings(), 65).exit_code(), 65);
  EXPECT_EQ(Explain(Status::Never("no")).first, 78);
}

TEST(Explain, WhatIsToBeDoneAgainSaysSoAndIsTemporaryWhileAServiceIsAway) {
  RequireFinished(Status::Done(), Settings(), "again");
  const auto code = [](const Status& status) {
    try {
      RequireFinished(status, Settings(), "again");
    } catch (const Failure& failure) {
      EXPECT_THAT(failure.what(), EndsWith("; again"));
      return failure.exit_code();
    }
    return 0;
  };
  EXPECT_EQ(code(Status::Never("no")), 65);
  EXPECT_EQ(code(Failed("kafka", "no answer", Cause::kAway)), 75);
  EXPECT_EQ(code(Failed("kafka", "no such user", Cause::kNoLogin)), 78);
}

TEST(Explain, IsAlwaysOneLine) {
  EXPECT_THAT(Explain(Status::Never("one\ntwo")).second, Not(HasSubstr("\n")));
  EXPECT_THAT(Explain(Status::Later("redis", "one\ntwo")).second, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace fanline::feedctl
