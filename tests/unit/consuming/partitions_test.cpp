#include "fanline/consuming/partitions.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace fanline {
namespace {

constexpr Duration kSecond = std::chrono::seconds(1);

Record At(int64_t offset) { return {.offset = offset}; }

struct Losses : ConsumerMetrics {
  void TailLost(int32_t partition, int64_t position, int64_t end) override {
    tails.push_back({partition, position, end});
  }
  void LogGap(int32_t partition, int64_t from, int64_t to) override {
    gaps.push_back({partition, from, to});
  }
  void NothingCommitted(int32_t partition, int64_t low) override {
    uncommitted.push_back({partition, low});
  }
  std::vector<std::array<int64_t, 3>> tails, gaps;
  std::vector<std::array<int64_t, 2>> uncommitted;
};

struct World {
  // What is ordered now. Later() passes a second first, so that commits are due.
  ConsumerOrders Order(const Partitions::Load& load = {}) {
    return partitions.Order(load, false, {now, 0}).orders;
  }
  ConsumerOrders Later() {
    now += kSecond;
    return Order();
  }

  Losses metrics;
  Time now{kSecond};
  Partitions partitions{{.open = 4, .span = 10, .commit_every = kSecond / 5}, metrics};
};

// Offsets expire, also those of a group that will come back.
TEST(Partitions, AGapIsNotTakenForTheStart) {
  constexpr int64_t kNotKnown = 1'000;
  World w;
  w.partitions.Assigned({0, 0, 0, kNotKnown, false});
  EXPECT_TRUE(w.metrics.uncommitted.empty()) << "nothing was there before";
  w.partitions.Assigned({1, 8, 8, kNotKnown, false});
  EXPECT_EQ(w.metrics.uncommitted, (std::vector<std::array<int64_t, 2>>{{1, 8}}));
  EXPECT_TRUE(w.metrics.gaps.empty()) << "nobody knows how large it is";
  const auto orders = w.Order();
  ASSERT_EQ(orders.seek.size(), 2u);
  EXPECT_EQ(orders.seek[1].offset, 8);
}

TEST(Partitions, AGapIsCommittedAtOnceSoThatTheNextOwnerDoesNotReportItAgain) {
  World w;
  EXPECT_TRUE(w.Order().commit.empty());
  w.partitions.Assigned({0, 8, 8});
  EXPECT_TRUE(w.Order().commit.empty()) << "before its time";
  w.partitions.Assigned({1, 5, 8});
  EXPECT_EQ(w.metrics.gaps, (std::vector<std::array<int64_t, 3>>{{1, 5, 8}}));
  const auto committed = w.Order().commit;
  ASSERT_FALSE(committed.empty());
  EXPECT_EQ(committed.back().partition, 1);
  EXPECT_EQ(committed.back().offset, 8);
}

TEST(Partitions, ALogThatLostItsTailIsReportedOnceAndReadFromItsFirstRecord) {
  World w;
  w.partitions.Assigned({1, 50, 8, 45});
  const ConsumerOrders orders = w.Order();
  EXPECT_EQ(w.metrics.tails, (std::vector<std::array<int64_t, 3>>{{1, 50, 45}}));
  EXPECT_TRUE(w.metrics.gaps.empty());
  ASSERT_EQ(orders.seek.size(), 1u);
  EXPECT_EQ(orders.seek[0].offset, 8);
  ASSERT_EQ(orders.commit.size(), 1u) << "or the next owner reports it again";
  EXPECT_EQ(orders.commit[0].offset, 8);
}

TEST(Partitions, WorkOfAnEarlierAssignmentFinishesNothingOfThisOne) {
  World w;
  w.partitions.Assigned({0, 0, 0});
  w.Order();
  const auto earlier = w.partitions.Received(At(0));
  w.partitions.Revoked({0});
  w.partitions.Assigned({0, 0, 0});
  w.Order();
  const auto again = w.partitions.Received(At(0));
  ASSERT_TRUE(earlier && again);
  EXPECT_FALSE(w.partitions.Holds(*earlier));
  EXPECT_TRUE(w.partitions.Holds(*again));

  w.Later();
  w.partitions.Finished(*earlier);
  EXPECT_TRUE(w.Later().commit.empty());
  w.partitions.Finished(*again);
  const auto committed = w.Later().commit;
  ASSERT_EQ(committed.size(), 1u);
  EXPECT_EQ(committed[0].offset, 1);
}

TEST(Partitions, ACommitWaitsForItsTimeUnlessItIsOrderedAtOnce) {
  World w;
  w.partitions.Assigned({0, 0, 0});
  EXPECT_EQ(w.partitions.Order({}, false, {w.now, 0}).next_timer, std::nullopt);
  const auto place = w.partitions.Received(At(0));
  ASSERT_TRUE(place);
  w.partitions.Finished(*place);
  Progress progress = w.partitions.Order({}, false, {w.now, 0});
  EXPECT_TRUE(progress.orders.commit.empty());
  EXPECT_EQ(progress.next_timer, w.now + kSecond / 5);
  progress = w.partitions.Order({}, true, {w.now, 0});
  EXPECT_EQ(progress.orders.commit.size(), 1u);
  EXPECT_EQ(progress.next_timer, std::nullopt);
}

TEST(Partitions, CountsWhatIsNotCommitted) {
  World w;
  w.partitions.Assigned({0, 100, 0});
  EXPECT_EQ(w.partitions.commit_lag(), 0u);
  w.Order();
  for (int64_t offset : {100, 101, 105}) {
    const auto place = w.partitions.Received(At(offset));
    ASSERT_TRUE(place);
    if (offset == 100) w.partitions.Finished(*place);
  }
  EXPECT_EQ(w.partitions.commit_lag(), 6u);
  w.Later();
  EXPECT_EQ(w.partitions.commit_lag(), 5u);
}

TEST(Partitions, NothingIsTakenThatWasReadInFrontOfTheSeek) {
  World w;
  w.partitions.Assigned({0, 3, 0});
  EXPECT_FALSE(w.partitions.Received(At(7)));
  w.Order();
  EXPECT_TRUE(w.partitions.Received(At(3)));
}

// Such a seek would move a partition that is not ours, or ours to an earlier assignment's start.
TEST(Partitions, TheSeekOfAnAssignmentGoesWithIt) {
  World w;
  w.partitions.Assigned({0, 3, 0});
  w.partitions.Assigned({1, 4, 0});
  w.partitions.Revoked({0});
  ConsumerOrders orders = w.Order();
  ASSERT_EQ(orders.seek.size(), 1u);
  EXPECT_EQ(orders.seek[0].partition, 1);

  w.partitions.Assigned({0, 3, 0});
  w.partitions.Assigned({0, 9, 0});  // not revoked
  orders = w.Order();
  ASSERT_EQ(orders.seek.size(), 1u);
  EXPECT_EQ(orders.seek[0].offset, 9);
}

// The partition flows from its seek on, whatever was ordered before.
TEST(Partitions, OneThatIsAssignedAgainStartsAnew) {
  World w;
  for (int times = 0; times < 2; ++times) {
    w.partitions.Assigned({0, 0, 0});
    EXPECT_TRUE(w.Order().resume.empty()) << "the seek did that";
    ASSERT_TRUE(w.partitions.Received(At(0)));
    EXPECT_EQ(w.Order({.open = 4}).pause, std::vector<int32_t>{0});
  }
}

TEST(Partitions, AllArePausedAtABoundOfAllAndResumedAtHalfOfIt) {
  const std::vector<int32_t> both{0, 1};
  World w;
  w.partitions.Assigned({0, 0, 0});
  w.partitions.Assigned({1, 0, 0});
  EXPECT_TRUE(w.Order({.open = 3}).pause.empty());
  EXPECT_EQ(w.Order({.open = 4}).pause, both);
  EXPECT_TRUE(w.Order({.open = 4}).pause.empty()) << "they are";
  EXPECT_TRUE(w.Order({.open = 3}).resume.empty());
  EXPECT_EQ(w.Order({.open = 2}).resume, both);

  EXPECT_EQ(w.Order({.open = 1, .full = true, .roomy = false}).pause, both);
  EXPECT_TRUE(w.Order({.open = 1, .roomy = false}).resume.empty());
  EXPECT_EQ(w.Order({.open = 1}).resume, both);
}

TEST(Partitions, OneIsPausedAtTheBoundOfItsSpanAndResumedAtHalfOfIt) {
  World w;
  w.partitions.Assigned({0, 0, 0});
  w.partitions.Assigned({1, 0, 0});
  w.Order();
  std::vector<Partitions::Place> places;
  for (int64_t offset = 0; offset < 10; ++offset) {
    EXPECT_TRUE(w.Order().pause.empty());
    places.push_back(w.partitions.Received(At(offset)).value());
  }
  EXPECT_EQ(w.Order().pause, std::vector<int32_t>{0});
  for (size_t i = 0; i < 4; ++i) w.partitions.Finished(places[i]);
  EXPECT_TRUE(w.Order().resume.empty());
  w.partitions.Finished(places[4]);
  EXPECT_EQ(w.Order().resume, std::vector<int32_t>{0});
}

}  // namespace
}  // namespace fanline
