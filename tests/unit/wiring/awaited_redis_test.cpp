// A Redis that a program can do without.
#include <gtest/gtest.h>

#include "backends/wiring/checks.h"

namespace fanline::wiring {
namespace {

class AwaitedRedisTest : public testing::Test {
 protected:
  Status all_ = Status::Later("redis", "away");
  Status whose_ = Status::Done();
  AwaitedRedis redis_{{[this] { return all_; }, [this] { return whose_; }}};
};

TEST_F(AwaitedRedisTest, IsNotUsedBeforeAllOfItWasFoundGood) {
  EXPECT_TRUE(redis_.Ask().later());
  EXPECT_FALSE(redis_.fit());
  all_ = Status::Done();
  EXPECT_TRUE(redis_.Ask().done());
  EXPECT_TRUE(redis_.fit());
}

TEST_F(AwaitedRedisTest, AWrongOneIsRefusedHoweverLateItAnswers) {
  EXPECT_TRUE(redis_.Ask().later());
  all_ = Status::Never("maxmemory-policy is allkeys-lru");
  EXPECT_TRUE(redis_.Ask().never());
  EXPECT_FALSE(redis_.fit());
}

TEST_F(AwaitedRedisTest, OnceItWasFoundGoodOnlyItsOwnerIsAskedFor) {
  all_ = Status::Done();
  EXPECT_TRUE(redis_.Ask().done());
  all_ = Status::Later("redis", "away");
  EXPECT_TRUE(redis_.Ask().done());
  whose_ = Status::Never("of installation 7");
  EXPECT_TRUE(redis_.Ask().never());
}

}  // namespace
}  // namespace fanline::wiring
