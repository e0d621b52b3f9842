#include "fanline/model/item.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/seeded.h"

namespace fanline {
namespace {

TEST(Item, TheLaterPostIsTheNewer) {
  EXPECT_TRUE(IsNewer({PostId{1}, 2000}, {PostId{2}, 1000}));
  EXPECT_FALSE(IsNewer({PostId{2}, 1000}, {PostId{1}, 2000}));
}

TEST(Item, OfTheSameMillisecondTheHigherIdIsTheNewer) {
  EXPECT_TRUE(IsNewer({PostId{10}, 1000}, {PostId{9}, 1000}));
  EXPECT_FALSE(IsNewer({PostId{9}, 1000}, {PostId{10}, 1000}));
  EXPECT_FALSE(IsNewer({PostId{10}, 1000}, {PostId{10}, 1000}));
  EXPECT_TRUE(IsNewer({kFirstOfMoment, 1000}, {PostId{10}, 1000}));
}

TEST(Item, HasOneOrderForAnySetOfItems) {
  fanline::testing::Seeded random;
  std::vector<Item> items;
  for (int i = 0; i < 500; ++i) {
    items.push_back({PostId{1 + random.Below(200)}, static_cast<UnixMs>(1 + random.Below(5))});
  }
  std::sort(items.begin(), items.end(), IsNewer);
  for (size_t a = 0; a < items.size(); ++a) {
    for (size_t b = a + 1; b < items.size(); ++b) {
      ASSERT_FALSE(IsNewer(items[b], items[a]));
      ASSERT_EQ(IsNewer(items[a], items[b]), !(items[a] == items[b]));
    }
  }
}

TEST(Item, EveryTimeIsExactAsARedisScoreAndNewerThanNoFloor) {
  EXPECT_EQ(static_cast<int64_t>(static_cast<double>(kMaxCreatedAt)), kMaxCreatedAt);
  EXPECT_EQ(static_cast<int64_t>(-static_cast<double>(kMaxCreatedAt)), -kMaxCreatedAt);
  EXPECT_GT(UnixMs{1}, kNoFloor);
}

}  // namespace
}  // namespace fanline
