#include "mirror/partitions.h"

#include <gtest/gtest.h>

namespace fanline::mirror {
namespace {

TEST(Partitions, AGapIsCommittedAtOnceSoThatTheNextOwnerDoesNotReportItAgain) {
  Metrics metrics;
  Partitions partitions(Limits{}, metrics);
  const Now now{Time{} + std::chrono::seconds(1), 0};
  const auto commits = [&] {
    ConsumerOrders orders;
    partitions.Order(0, false, now, orders);
    return orders.commit;
  };
  EXPECT_TRUE(commits().empty());
  partitions.Assigned({0, 8, 8});
  EXPECT_TRUE(commits().empty()) << "before its time";
  partitions.Assigned({1, 5, 8});
  const auto committed = commits();
  ASSERT_FALSE(committed.empty());
  EXPECT_EQ(committed.back().partition, 1);
  EXPECT_EQ(committed.back().offset, 8);
}

}  // namespace
}  // namespace fanline::mirror
