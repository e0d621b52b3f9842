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

TEST(Health, IsReadyWhenEveryConditionHolds) {
  Health health;
  health.SetReady("loop", true);
  health.SetReady("redis", true);
  EXPECT_TRUE(health.Ready().ok);
  EXPECT_EQ(health.Ready().json, R"({"status":"ready"})");
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

TEST(Health, TellsEveryConditionAndWhetherItHolds) {
  Health health;
  health.SetReady("loop", true);
  health.SetReady("redis", false, "connection refused");
  const std::map<std::string, bool> expected{{"loop", true}, {"redis", false}};
  EXPECT_EQ(health.Conditions(), expected);
}

TEST(Health, IsReadyAgainWhenTheResourceIsBack) {
  Health health;
  health.SetReady("redis", false, "connection refused");
  health.SetReady("redis", true);
  EXPECT_TRUE(health.Ready().ok);
}

TEST(Health, StaysAliveWhileAResourceIsAway) {
  Health health({.stall_limit = 10s});
  health.Beat(Time{});
  health.SetReady("redis", false, "connection refused");
  EXPECT_TRUE(health.Alive(Time{10s}).ok);
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

TEST(Health, SaysInWordsWhatItSaysAsJson) {
  Health health;
  EXPECT_EQ(health.Summary(), "not ready: no part has reported yet");
  health.SetReady("redis", true);
  EXPECT_EQ(health.Summary(), "ready");
  health.SetReady("redis", false, "Connection refused");
  health.SetReady("mysql_0", false, "not reachable");
  EXPECT_EQ(health.Summary(), "not ready: mysql_0: not reachable; redis: Connection refused");
}

}  // namespace
}  // namespace fanline::daemon
