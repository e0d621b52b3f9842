#include "fanline/model/edge.h"

#include <gtest/gtest.h>

#include <unordered_set>

namespace fanline {
namespace {

constexpr EdgeState kNoRow{};
constexpr EdgeState kFollow{.ver = 7, .live = true, .pos = 1};
constexpr EdgeState kUnfollow{.ver = 8, .live = false, .pos = 1};

TEST(Edge, TheHigherVersionWinsWhateverItsState) {
  EXPECT_TRUE(Wins(kFollow, kNoRow));
  EXPECT_TRUE(Wins(kUnfollow, kFollow));
  EXPECT_FALSE(Wins(kFollow, kUnfollow));
  EXPECT_FALSE(Wins(kFollow, kFollow));
  EXPECT_FALSE(Wins(kNoRow, kNoRow));
  EXPECT_FALSE(Wins({.ver = 7, .live = false}, kFollow));
}

TEST(Edge, BringsPostsUnlessItEndedOrIsMuted) {
  EdgeState edge = kFollow;
  EXPECT_TRUE(edge.brings());
  edge.delivery = Delivery::kNoReposts;
  EXPECT_TRUE(edge.brings());
  edge.delivery = Delivery::kNone;
  EXPECT_FALSE(edge.brings());
  EXPECT_NE(edge, kFollow);
  EXPECT_FALSE(kUnfollow.brings());
}

TEST(Delivery, HasThreeNamesAndNumbers) {
  for (const uint64_t number : {0, 1, 2}) {
    EXPECT_EQ(ParseDelivery(NameOf(*DeliveryOf(number))), DeliveryOf(number));
  }
  EXPECT_EQ(DeliveryOf(3), std::nullopt);
  EXPECT_TRUE(IsKnown(StoredDelivery(2)));
  for (const uint64_t odd : {uint64_t{3}, uint64_t{256}, UINT64_MAX}) {
    EXPECT_FALSE(IsKnown(StoredDelivery(odd))) << odd;
  }
  EXPECT_EQ(ParseDelivery("None"), std::nullopt);
  EXPECT_STREQ(NameOf(static_cast<Delivery>(3)), "unknown");
}

TEST(Edge, TransitionsCountLiveEdges) {
  EXPECT_EQ(Transition(kNoRow, kFollow), 1);
  EXPECT_EQ(Transition(kFollow, kUnfollow), -1);
  EXPECT_EQ(Transition(kNoRow, kUnfollow), 0);
  EXPECT_EQ(Transition(kFollow, {.ver = 9, .live = true, .pos = 5}), 0);
}

// Neighbouring ids are what an importer makes. 250,000 hashes of 2^20 places: with perfect chance
// 222,000 places are taken.
TEST(Edge, HashesOfNeighboursSpreadInTheLowBits) {
  std::unordered_set<size_t> low;
  for (uint64_t src = 1; src <= 500; ++src) {
    for (uint64_t dst = 1; dst <= 500; ++dst) {
      low.insert(std::hash<EdgeKey>()({UserId{src}, UserId{dst}}) % (1 << 20));
    }
  }
  EXPECT_GT(low.size(), 210'000u);
}

}  // namespace
}  // namespace fanline
