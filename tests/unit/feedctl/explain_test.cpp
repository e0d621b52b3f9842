#include "feedctl/support/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/support/docs_folder.h"

namespace fanline::feedctl {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Explained {
  int code;
  std::string line;
};

Explained Explain(const Status& status, const TlsFiles& redis_tls = {}) {
  Settings settings;
  settings.redis.tls = redis_tls;
  settings.kafka.brokers = "k1:9092,k2:9092";
  settings.redis.seeds = {"r1:6379"};
  settings.mysql.shards = "tcp://m0:3306/feed,tcp://m1:3307/feed";
  const Failure failure = feedctl::Explain(status, settings);
  return {failure.exit_code(), failure.what()};
}

TEST(Explain, ARedisThatIsAwayIsNamedWithWhatToDo) {
  const auto [code, line] = Explain(Status::Later("redis", "redis r1:6379: Connection refused"));
  EXPECT_EQ(code, 69);
  EXPECT_EQ(line,
            "cannot reach Redis at r1:6379: connection refused; start it or set --redis / "
            "FANLINE_REDIS");
}

TEST(Explain, ARedisThatMayWaitForTlsOrForNoneIsSaidToPerhapsDoSo) {
  const auto silent = Status::Later("redis", "redis r1:6379: no answer in time");
  const auto closes = Status::Later("redis", "redis r1:6379: the node closed the connection");
  const TlsFiles tls{"ca.pem", {}, {}};
  EXPECT_THAT(Explain(silent, tls).line, HasSubstr("speaks no TLS, leave --redis-tls-ca out"));
  EXPECT_THAT(Explain(silent).line, Not(HasSubstr("tls")));
  EXPECT_THAT(Explain(closes).line, HasSubstr("speaks TLS only, set --redis-tls-ca"));
  EXPECT_THAT(Explain(closes, tls).line, Not(HasSubstr("tls")));
}

TEST(Explain, ARedisThatRefusesIsReachedAllTheSame) {
  const auto saves = Explain(Status::Later("redis", "MISCONF Redis is configured to save"));
  EXPECT_EQ(saves.code, 69);
  EXPECT_EQ(saves.line, "Redis at r1:6379: MISCONF Redis is configured to save");
  const auto locked = Explain(Status::Later("redis", "NOAUTH Authentication required."));
  EXPECT_EQ(locked.code, 78);
  EXPECT_THAT(locked.line, HasSubstr("--redis-password / FANLINE_REDIS_PASSWORD"));
  const auto unable = Explain(Status::Later("redis", "NOPERM this user has no permissions"));
  EXPECT_EQ(unable.code, 78);
  EXPECT_THAT(unable.line, HasSubstr("let --redis-user do what schemas/redis/README.md lists"));
}

TEST(Explain, ARedisThatIsFullIsToBeGivenMemory) {
  for (const char* said :
       {"OOM command not allowed when used memory > 'maxmemory'.",
        "ERR Error running script (call to f_1): @user_script:9: OOM command not allowed"}) {
    const auto full = Explain(Status::Later("redis", said));
    EXPECT_EQ(full.code, 69);
    EXPECT_THAT(full.line,
                AllOf(StartsWith("Redis at r1:6379: it is full (maxmemory)"),
                      HasSubstr("FanlineRedisFull in " + DocsFolder() + "/runbooks/delivery.md"),
                      Not(HasSubstr("OOM"))));
  }
}

TEST(Explain, IsToldInTwoWhereTheAdviceStandsApart) {
  Settings settings;
  settings.redis.seeds = {"r1:6379"};
  const auto away = ExplanationOf(Status::Later("redis", "redis r1:6379: Refused"), settings);
  EXPECT_EQ(away.what, "cannot reach Redis at r1:6379: refused");
  EXPECT_EQ(away.advice, "start it or set --redis / FANLINE_REDIS");
  EXPECT_EQ(ExplanationOf(Status::Never("no"), settings, 65).exit_code, 65);
  EXPECT_EQ(ExplanationOf(Status::Never("no"), settings).advice, "");
}

TEST(Explain, ARedisOfAnotherKindThanSaidIsAMatterOfConfiguration) {
  const auto open = Explain(Status::Later(
      "redis", "ERR AUTH <password> called without any password configured for the default user."));
  EXPECT_EQ(open.code, 78);
  EXPECT_THAT(open.line, HasSubstr("; leave --redis-password out"));
  const auto watchers =
      Explain(Status::Later("redis",
                            "Sentinel r1:6379: ERR AUTH <password> called without any password "
                            "configured for the default user."));
  EXPECT_THAT(watchers.line, HasSubstr("; leave --redis-sentinel-password out"));
  const auto node =
      Explain(Status::Later("redis", "Sentinel r1:6379: ERR unknown command 'SENTINEL'"));
  EXPECT_EQ(node.code, 78);
  EXPECT_THAT(node.line, AllOf(HasSubstr("it is no Sentinel"),
                               HasSubstr("; leave --redis-sentinel-master out")));
  for (const char* said :
       {"Sentinel r1:6379: it watches no master called x; set --redis-sentinel-master",
        "redis r1:6379 is a Sentinel: say by --redis-sentinel-master which master",
        "redis r1:6379 is no node of a cluster, so it must be the only address"}) {
    const auto mistaken = Explain(Status::Later("redis", said));
    EXPECT_EQ(mistaken.code, 78);
    EXPECT_THAT(mistaken.line, AllOf(HasSubstr(said), Not(HasSubstr("cannot reach"))));
  }
}

TEST(Explain, AServiceThatProvesNoNameIsNotSaidToBeAway) {
  const auto redis = Explain(Status::Later("redis", "redis r1:6379: TLS: hostname mismatch"));
  EXPECT_EQ(redis.code, 78);
  EXPECT_THAT(redis.line, AllOf(HasSubstr("Redis at r1:6379: TLS: hostname mismatch"),
                                HasSubstr("--redis-tls-ca"), Not(HasSubstr("cannot reach"))));
  const auto mysql = Explain(Status::Later("mysql_0", "MariaDB error 2026: TLS/SSL error: x"));
  EXPECT_EQ(mysql.code, 78);
  EXPECT_THAT(mysql.line, HasSubstr("; set --mysql-tls-ca"));
  const auto plain = Explain(Status::Later(
      "mysql_0", "MariaDB error 2026: SSL is required, but the server does not support it"));
  EXPECT_EQ(plain.code, 78);
  EXPECT_THAT(plain.line, HasSubstr("; turn TLS on at the server, or leave --mysql-tls-ca out"));
}

TEST(Explain, AShardThatIsAwayIsNamedWithItsOwnAddress) {
  const auto [code, line] = Explain(
      Status::Later("mysql_1", "MariaDB error 2002: Can't connect to server on 'm1' (111)"));
  EXPECT_EQ(code, 69);
  EXPECT_THAT(line, AllOf(StartsWith("cannot reach MariaDB shard 1 at m1:3307/feed: "),
                          HasSubstr("onnection refused; "),
                          HasSubstr("--mysql-shards / FANLINE_MYSQL_SHARDS")));
}

TEST(Explain, WhatOnlyTheOperatorCanMendIsAMatterOfConfiguration) {
  const auto password = Explain(Status::Later("mysql_0", "MariaDB error 1045: Access denied"));
  EXPECT_EQ(password.code, 78);
  EXPECT_THAT(password.line, HasSubstr("--mysql-password"));
  const auto table = Explain(Status::Later("mysql_0", "MariaDB error 1146: no such table; type x"));
  EXPECT_EQ(table.code, 78);
  EXPECT_THAT(table.line, EndsWith("no such table; type x"));
  const auto infile = Explain(Status::Later("mysql_0", "MariaDB error 4166: not allowed"));
  EXPECT_EQ(infile.code, 78);
  EXPECT_THAT(infile.line, HasSubstr("--local-infile=ON"));
}

TEST(Explain, AnErrorOfAShardWithoutAdviceIsStillNamed) {
  const auto [code, line] =
      Explain(Status::Later("mysql_0", "MariaDB error 1205: Lock wait timeout exceeded"));
  EXPECT_EQ(code, 69);
  EXPECT_THAT(line, AllOf(HasSubstr("MariaDB shard 0 at m0:3306/feed"), HasSubstr("1205"),
                          Not(HasSubstr("cannot reach"))));
}

TEST(Explain, AKafkaThatIsAwayIsNamedWithoutLibraryTalk) {
  for (const char* error : {"(_TRANSPORT)", "(_ALL_BROKERS_DOWN)", "(_TIMED_OUT)"}) {
    const auto [code, line] =
        Explain(Status::Later("kafka", std::string("looking up topic x: no answer ") + error));
    EXPECT_EQ(code, 69);
    EXPECT_EQ(line,
              "cannot reach Kafka at k1:9092,k2:9092: no answer; start it or set "
              "--kafka-brokers / FANLINE_KAFKA_BROKERS");
  }
}

TEST(Explain, AKafkaThatTurnsUsAwayIsNotSaidToBeAway) {
  const auto password = Explain(Status::Later(
      "kafka",
      "looking up topic x: no answer (_TRANSPORT): the broker refused our credentials "
      "(_AUTHENTICATION): k1:9092: SASL authentication error"));
  EXPECT_EQ(password.code, 78);
  EXPECT_THAT(password.line, AllOf(Not(HasSubstr("cannot reach")), HasSubstr("--kafka-password")));
  const auto tls = Explain(Status::Later(
      "kafka", "looking up topic x: no answer (_TRANSPORT): (_SSL): certificate verify failed"));
  EXPECT_EQ(tls.code, 78);
  EXPECT_THAT(tls.line, HasSubstr("ssl.ca.location"));
}

TEST(Explain, AKafkaThatDoesNotSayOneThingMaySayOthers) {
  const auto silent = [](const std::string& message) {
    return ExplanationOf(Status::Later("kafka", "looking up topic x: " + message), {}).silent;
  };
  for (const char* error : {"(_TRANSPORT)", "(_ALL_BROKERS_DOWN)", "(_TIMED_OUT)", "(_RESOLVE)"}) {
    EXPECT_TRUE(silent(std::string("no answer ") + error)) << error;
  }
  EXPECT_TRUE(silent("refused (_AUTHENTICATION): k1:9092")) << "of whom nothing can be asked";
  EXPECT_TRUE(silent("no answer (_TRANSPORT): (_SSL): certificate verify failed"));
  EXPECT_FALSE(silent("not allowed (TOPIC_AUTHORIZATION_FAILED)"));
  EXPECT_FALSE(silent("not allowed (GROUP_AUTHORIZATION_FAILED)"));
  EXPECT_FALSE(silent("no leader (LEADER_NOT_AVAILABLE)"));
  EXPECT_FALSE(silent("the topic does not exist (_UNKNOWN_TOPIC)"));
}

TEST(Explain, AMissingTopicIsToBeCreated) {
  const auto [code, line] =
      Explain(Status::Later("kafka", "record for x: the topic does not exist (_UNKNOWN_TOPIC)"));
  EXPECT_EQ(code, 78);
  EXPECT_THAT(line, HasSubstr("feedctl topics create"));
}

TEST(Explain, WhatCanNeverWorkHasTheCodeOfTheCaller) {
  EXPECT_EQ(feedctl::Explain(Status::Never("no"), Settings(), 65).exit_code(), 65);
  EXPECT_EQ(Explain(Status::Never("no")).code, 78);
}

TEST(Explain, IsAlwaysOneLine) {
  EXPECT_THAT(Explain(Status::Never("one\ntwo")).line, Not(HasSubstr("\n")));
  EXPECT_THAT(Explain(Status::Later("redis", "one\ntwo")).line, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace fanline::feedctl
