// Whole shards read for an audit.
#include "backends/mysql/sql/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/integration/mysql/shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

class ScanTest : public ::testing::Test {
 protected:
  testing::Seeded seeded_;
  Shards shards_;
  ShardConnections connections_{shards_.config()};
};

TEST_F(ScanTest, EveryLiveForwardEdgeIsMetOnceInOrderWhateverThePage) {
  using Edges = std::vector<std::pair<uint64_t, uint64_t>>;
  std::set<std::pair<uint64_t, uint64_t>> all, live;
  while (all.size() < 400) all.insert({1 + seeded_.Below(20), seeded_.Id()});
  for (const auto& [src, dst] : all) {
    const bool follows = !seeded_.OneIn(5);
    if (follows) live.insert({src, dst});
    shards_.on(0).Execute("INSERT INTO following (src, dst, ver, state, pos) VALUES (" +
                          std::to_string(src) + "," + std::to_string(dst) + ",1," +
                          (follows ? "1" : "0") + ",1)");
  }
  shards_.on(0).Execute("UPDATE following SET delivery = 1 WHERE dst % 2 = 0");
  for (const uint32_t page : {1u, 2u, 13u, 400u, kScanPage}) {
    Edges met;
    const auto each = [&](UserId src, UserId dst, bool reposts) {
      met.push_back({Raw(src), Raw(dst)});
      EXPECT_EQ(reposts, Raw(dst) % 2 == 1);
    };
    ASSERT_TRUE(ScanFollowing(connections_, 0, each, page).done());
    EXPECT_EQ(met, Edges(live.begin(), live.end())) << "pages of " << page;
  }
}

TEST_F(ScanTest, OnlyVisiblePostsAreMetAndHowTheyReachTimelines) {
  const UserId author = shards_.UserOn(1, 1);
  shards_.PutPost(author, PostId{1}, {.created_at = 10});
  shards_.PutPost(author, PostId{2}, {.created_at = 11, .deleted = true});
  shards_.PutPost(author, PostId{3}, {.created_at = 12, .hidden = true});
  shards_.PutPost(author, PostId{4}, {.created_at = 13, .pushed = false});
  shards_.PutPost(author, PostId{5}, {});
  shards_.PutPost(author, PostId{6}, {.created_at = 9});
  std::vector<std::pair<Item, bool>> met;
  const auto each = [&](const Item& item, bool pushed) { met.emplace_back(item, pushed); };
  ASSERT_TRUE(ScanVisiblePosts(connections_, 1, each, 1).done());
  EXPECT_EQ(met, (std::vector<std::pair<Item, bool>>{{{PostId{1}, 10, author}, true},
                                                     {{PostId{4}, 13, author}, false},
                                                     {{PostId{6}, 9, author}, true}}));
}

TEST_F(ScanTest, AnEmptyShardIsDoneAtOnce) {
  EXPECT_TRUE(ScanFollowing(connections_, 0, [](UserId, UserId, bool) { FAIL(); }).done());
  EXPECT_TRUE(ScanVisiblePosts(connections_, 1, [](const Item&, bool) { FAIL(); }).done());
}

}  // namespace
}  // namespace fanline::mysql
