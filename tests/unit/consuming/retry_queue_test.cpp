#include "fanline/consuming/retry_queue.h"

#include <gtest/gtest.h>

#include <memory>

namespace fanline {
namespace {

constexpr Time kNow{std::chrono::seconds(100)};
constexpr Backoff kBackoff{};

TEST(RetryQueue, EachComesWhenItsOwnBackoffIsOver) {
  RetryQueue<std::unique_ptr<int>> queue(kBackoff);
  EXPECT_EQ(queue.timer(), std::nullopt);
  queue.Add(std::make_unique<int>(7), 7, kNow, 0);
  queue.Add(std::make_unique<int>(1), 1, kNow, 0);
  EXPECT_EQ(queue.timer(), kNow + kBackoff.Delay(1, 0));
  EXPECT_FALSE(queue.Take(*queue.timer() - Duration(1)));
  EXPECT_EQ(**queue.Take(*queue.timer()), 1);
  EXPECT_EQ(queue.timer(), kNow + kBackoff.Delay(7, 0));
  EXPECT_EQ(**queue.Take(*queue.timer()), 7);
  EXPECT_FALSE(queue.Take(kNow + std::chrono::hours(1)));
}

}  // namespace
}  // namespace fanline
