#include "backends/wiring/redis_health.h"

#include <gtest/gtest.h>

namespace fanline::wiring {
namespace {

class RedisHealthTest : public testing::Test {
 protected:
  RedisHealthTest() { process_.SetReady("loop", true); }

  std::string Ready() const { return process_.Ready().json; }

  const redis::RangesAway one_{"redis a:1: no reply in time", {0, 1, 2}};
  const redis::RangesAway other_{"redis b:1: Connection refused", {3, 4}};
  daemon::Health process_;
  RedisHealth health_{process_};
};

TEST_F(RedisHealthTest, ANodeOfOthersRangesIsNamedAndThePusherReady) {
  health_.Own({5, 6});
  health_.Away({one_});
  EXPECT_EQ(Ready(), R"({"status":"ready","away":{"redis":"redis a:1: no reply in time"}})");
  EXPECT_FALSE(process_.Resources().at("redis"));
}

TEST_F(RedisHealthTest, ANodeOfAnOwnRangeMakesThePusherNotReady) {
  health_.Own({2, 5});
  health_.Away({one_, other_});
  EXPECT_EQ(Ready(), R"({"status":"not ready","reasons":{"redis":"redis a:1: no reply in time; )"
                     R"(redis b:1: Connection refused"}})");
  health_.Away({other_});
  EXPECT_TRUE(process_.Ready().ok);
  health_.Away({});
  EXPECT_EQ(Ready(), R"({"status":"ready"})");
}

TEST_F(RedisHealthTest, ARangeThatComesOrGoesTakesItsNodeAlong) {
  health_.Away({one_});
  EXPECT_TRUE(process_.Ready().ok) << "it owns nothing";
  health_.Own({0});
  EXPECT_FALSE(process_.Ready().ok);
  health_.Own({3});
  EXPECT_TRUE(process_.Ready().ok);
}

TEST_F(RedisHealthTest, SaysNothingOfRedisBeforeTheAdapterHasSaidAnything) {
  health_.Own({0});
  EXPECT_TRUE(process_.Resources().empty());
}

}  // namespace
}  // namespace fanline::wiring
