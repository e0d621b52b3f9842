#include "mirror/partitions.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

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

Record At(int64_t offset) {
  Record record;
  record.offset = offset;
  return record;
}

TEST(Partitions, WorkOfAnEarlierAssignmentFinishesNothingOfThisOne) {
  Metrics metrics;
  Partitions partitions(Limits{}, metrics);
  Now now{Time{} + std::chrono::seconds(1), 0};
  ConsumerOrders orders;
  partitions.Assigned({0, 0, 0});
  partitions.Order(0, false, now, orders);
  const auto earlier = partitions.Received(At(0));
  partitions.Revoked({0});
  partitions.Assigned({0, 0, 0});
  partitions.Order(1, false, now, orders);
  const auto again = partitions.Received(At(0));
  ASSERT_TRUE(earlier && again);

  const auto committed = [&] {
    now.mono += std::chrono::seconds(1);
    orders = {};
    partitions.Order(1, false, now, orders);
    return orders.commit.empty() ? -1 : orders.commit.back().offset;
  };
  committed();
  partitions.Finished(*earlier);
  EXPECT_EQ(committed(), -1);
  partitions.Finished(*again);
  EXPECT_EQ(committed(), 1);
}

TEST(Partitions, NothingIsTakenThatWasReadInFrontOfTheSeek) {
  Metrics metrics;
  Partitions partitions(Limits{}, metrics);
  partitions.Assigned({0, 3, 0});
  EXPECT_FALSE(partitions.Received(At(7)));
  ConsumerOrders orders;
  partitions.Order(0, false, Now{Time{} + std::chrono::seconds(1), 0}, orders);
  EXPECT_TRUE(partitions.Received(At(3)));
}

// It flows from its seek on, whatever was ordered before.
TEST(Partitions, OneThatIsAssignedAgainStartsAnew) {
  Metrics metrics;
  Limits limits;
  limits.records_open_per_partition = 1;
  Partitions partitions(limits, metrics);
  const Now now{Time{} + std::chrono::seconds(1), 0};
  for (int times = 0; times < 2; ++times) {
    partitions.Assigned({0, 0, 0});
    ConsumerOrders orders;
    partitions.Order(0, false, now, orders);
    EXPECT_TRUE(orders.resume.empty()) << "the seek did that";
    ASSERT_TRUE(partitions.Received(At(0)));
    orders = {};
    partitions.Order(1, false, now, orders);
    EXPECT_EQ(orders.pause, std::vector<int32_t>{0});
  }
}

struct Losses : Metrics {
  void TailLost(int32_t partition, int64_t position, int64_t end) override {
    seen.push_back({partition, position, end});
  }
  std::vector<std::array<int64_t, 3>> seen;
};

TEST(Partitions, ALogThatLostItsTailIsReportedOnceAndReadFromItsFirstRecord) {
  Losses metrics;
  Partitions partitions(Limits{}, metrics);
  partitions.Assigned({1, 50, 8, 45});
  ConsumerOrders orders;
  partitions.Order(0, false, Now{Time{} + std::chrono::seconds(1), 0}, orders);

  EXPECT_EQ(metrics.seen, (std::vector<std::array<int64_t, 3>>{{1, 50, 45}}));
  ASSERT_EQ(orders.seek.size(), 1u);
  EXPECT_EQ(orders.seek[0].offset, 8);
  ASSERT_EQ(orders.commit.size(), 1u) << "or the next owner reports it again";
  EXPECT_EQ(orders.commit[0].offset, 8);
}

}  // namespace
}  // namespace fanline::mirror
