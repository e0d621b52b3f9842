#include "daemon/observe/health.h"

#include <gtest/gtest.h>

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;

TEST(Health, IsNotReadyBeforeAnyPartHasReported) {
  const Health health;
  EXPECT_FALSE(health.Ready().ok);
  EXPECT_EQ(health.Ready().json,
            R"({"status":"not ready","reasons":{"start":"no part has reported yet"}})");
}

TEST(Health, NamesEveryConditionThatDoesNotHold) {
  Health health;
  health.SetReady("loop", true);
  health.SetReady("redis", false, "connection refused");
  health.SetReady("mysql_0", false, "cannot reach mysql://u:hunter2@db");
  EXPECT_FALSE(health.Ready().ok);
  EXPECT_EQ(health.Ready().json,
            R"({"status":"not ready","reasons":{"mysql_0":"cannot reach mysql://***@db",)"
            R"("redis":"connection refused"}})");
}

TEST(Health, IsReadyWhileOneOfAKindAnswersAndNamesTheOthers) {
  Health health;
  health.SetReady("loop", true);
  health.SetReach("mysql_0", "mysql", Reach::kWhole);
  health.SetReach("mysql_1", "mysql", Reach::kAway, "no answer from mysql://u:hunter2@db");
  EXPECT_TRUE(health.Ready().ok);
  EXPECT_EQ(health.Ready().json,
            R"({"status":"ready","away":{"mysql_1":"no answer from mysql://***@db"}})");
  EXPECT_EQ(health.Summary(), "ready; away: mysql_1: no answer from mysql://***@db");
  const std::map<std::string, bool> expected{{"mysql_0", true}, {"mysql_1", false}};
  EXPECT_EQ(health.Resources(), expected);
}

TEST(Health, IsNotReadyWhileAllOfAKindAreAway) {
  Health health;
  health.SetReady("loop", true);
  health.SetReach("mysql_0", "mysql", Reach::kAway, "refused");
  health.SetReach("mysql_1", "mysql", Reach::kAway, "no answer");
  health.SetReach("kafka_a", "kafka", Reach::kAway, "parked");
  health.SetReach("kafka_b", "kafka", Reach::kWhole);
  EXPECT_FALSE(health.Ready().ok);
  EXPECT_EQ(health.Ready().json,
            R"({"status":"not ready","reasons":{"mysql_0":"refused","mysql_1":"no answer"},)"
            R"("away":{"kafka_a":"parked"}})");
  EXPECT_EQ(health.Summary(),
            "not ready: mysql_0: refused; mysql_1: no answer; away: kafka_a: parked");
  health.SetReach("mysql_1", "mysql", Reach::kWhole);
  EXPECT_TRUE(health.Ready().ok);
}

TEST(Health, IsReadyWhileEnoughOfAResourceAnswers) {
  Health health;
  health.SetReady("loop", true);
  health.SetReach("redis", "redis", Reach::kEnough, "one node is away");
  EXPECT_EQ(health.Ready().json, R"({"status":"ready","away":{"redis":"one node is away"}})");
  EXPECT_EQ(health.Resources(), (std::map<std::string, bool>{{"redis", false}}));
  health.SetReach("redis", "redis", Reach::kAway, "all are away");
  EXPECT_FALSE(health.Ready().ok);
  health.SetReach("redis", "redis", Reach::kWhole, "a word too many");
  EXPECT_EQ(health.Ready().json, R"({"status":"ready"})");
}

TEST(Health, IsNotReadyByResourcesAlone) {
  Health health;
  health.SetReach("redis", "redis", Reach::kWhole);
  EXPECT_FALSE(health.Ready().ok);
}

TEST(Health, IsNotAliveOnceTheLastBeatIsOlderThanTheLimit) {
  Health health({.stall_limit = 10s});
  health.Beat(Time{1s});
  EXPECT_TRUE(health.Alive(Time{11s}).ok);
  EXPECT_FALSE(health.Alive(Time{11s + 1us}).ok);
  health.Beat(Time{12s});
  EXPECT_TRUE(health.Alive(Time{12s}).ok);
}

TEST(Health, IsAliveBeforeTheFirstBeatHoweverLongTheStartTakes) {
  EXPECT_TRUE(Health({.stall_limit = 10s}).Alive(Time{1h}).ok);
}

}  // namespace
}  // namespace fanline::daemon
