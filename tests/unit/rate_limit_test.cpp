#include "fanline/base/rate_limit.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

using namespace std::chrono_literals;

TEST(RateLimit, LetsKeysBeyondItsBoundShareOneAllowance) {
  RateLimit limit;
  for (size_t i = 0; i < RateLimit::kMaxKeys; ++i) {
    EXPECT_EQ(limit.Pass(std::to_string(i), 10s, Time{}), 0u);
  }
  EXPECT_EQ(limit.Pass("one more", 10s, Time{}), 0u);
  EXPECT_EQ(limit.Pass("and another", 10s, Time{}), std::nullopt);
  EXPECT_EQ(limit.Pass("0", 10s, Time{10s}), 0u);
}

}  // namespace
}  // namespace fanline
