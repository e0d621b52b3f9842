// A graph loaded at once into real shards.
#include "backends/mysql/tools/bulk_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using Sums = std::pair<int64_t, int64_t>;
using Pairs = std::set<std::pair<uint64_t, uint64_t>>;

class BulkLoadTest : public ::testing::Test {
 protected:
  Pairs RandomEdges(size_t count, uint64_t users) {
    Pairs edges;
    while (edges.size() < count) edges.insert({1 + seeded_.Below(users), 1 + seeded_.Below(users)});
    return edges;
  }
  BulkLoader::Result Load(const Pairs& edges) {
    BulkLoader loader(shards_.config(), shards_.map());
    for (const auto& [src, dst] : edges) loader.Add(UserId{src}, UserId{dst});
    BulkLoader::Result result;
    const Status status = loader.Load(kNow, {}, &result);
    EXPECT_TRUE(status.done()) << status.message;
    return result;
  }
  Pairs LiveRows(const std::string& table) {
    Pairs rows;
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      shards_.on(shard).Query("SELECT src, dst FROM " + table + " WHERE state = 1",
                              [&](const Row& row) {
                                rows.insert({row.UInt64(1), row.UInt64(2)});
                              });
    }
    return rows;
  }

  testing::Seeded seeded_;
  RelationShards shards_;
};

TEST_F(BulkLoadTest, EveryEdgeArrivesInBothDirectionsOnItsShardAndIsCounted) {
  const Pairs edges = RandomEdges(20'000, 3'000);
  const auto result = Load(edges);
  EXPECT_EQ(result.edges, edges.size());
  EXPECT_EQ(result.already_there, 0u);
  EXPECT_EQ(LiveRows("following"), edges);
  EXPECT_EQ(LiveRows("follower"), edges);
  shards_.ExpectCountersMatchRows();
  for (Shard shard = 0; shard < shards_.count(); ++shard) {
    shards_.on(shard).Query("SELECT dst, bucket, src, ver, pos FROM follower", [&](const Row& row) {
      ASSERT_EQ(shards_.map().ShardOf(UserId{row.UInt64(1)}), shard);
      ASSERT_EQ(row.UInt64(2), BucketOf(UserId{row.UInt64(3)}));
      ASSERT_EQ(row.UInt64(4), kNow);
      ASSERT_EQ(row.UInt64(5), kNow / 1000);
    });
  }
}

TEST_F(BulkLoadTest, RepeatedEdgesAreLoadedOnceAndSaidSo) {
  BulkLoader loader(shards_.config(), shards_.map());
  for (int i = 0; i < 3; ++i) loader.Add(UserId{1}, UserId{2});
  loader.Add(UserId{2}, UserId{1});
  BulkLoader::Result result;
  std::vector<std::pair<uint64_t, uint64_t>> seen;
  ASSERT_TRUE(loader
                  .Load(
                      kNow,
                      [&](uint64_t rows, uint64_t of) {
                        seen.push_back({rows, of});
                      },
                      &result)
                  .done());
  EXPECT_EQ(result.edges, 2u);
  EXPECT_EQ(result.repeated, 2u);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back(), std::pair(uint64_t{4}, uint64_t{4}));
}

TEST_F(BulkLoadTest, WhatGoesBeyondTheLimitOfFollowedUsersIsLoadedAndCounted) {
  BulkLoader loader(shards_.config(), shards_.map(), 2);
  const UserId ann = shards_.UserOn(0, 1), bob = shards_.UserOn(1, 1);
  for (uint64_t dst = 101; dst <= 105; ++dst) loader.Add(ann, UserId{dst});
  for (uint64_t dst = 101; dst <= 103; ++dst) loader.Add(bob, UserId{dst});
  loader.Add(shards_.UserOn(1, 2), UserId{101});
  BulkLoader::Result result;
  ASSERT_TRUE(loader.Load(kNow, {}, &result).done());
  EXPECT_EQ(result.users_over_limit, 2u);
  EXPECT_EQ(result.edges_over_limit, 4u);
  EXPECT_EQ(LiveRows("following").size(), 9u);
  shards_.ExpectCountersMatchRows();
}

TEST_F(BulkLoadTest, LoadingAgainAfterAnInterruptionCompletesAndChangesNothingElse) {
  const Pairs edges = RandomEdges(5'000, 500);
  Load(edges);
  shards_.on(0).Execute("DELETE FROM follower WHERE bucket % 2 = 0");
  shards_.on(1).Execute("DELETE FROM following WHERE dst % 3 = 0");
  Load(edges);
  const auto again = Load(edges);
  EXPECT_EQ(again.already_there, edges.size());
  EXPECT_EQ(LiveRows("following"), edges);
  EXPECT_EQ(LiveRows("follower"), edges);
  shards_.ExpectCountersMatchRows();
}

TEST_F(BulkLoadTest, AnEdgeThatWasUnfollowedStaysUnfollowed) {
  const UserId ann = shards_.UserOn(0, 1), bob = shards_.UserOn(1, 1);
  Relations relations(shards_.config(), shards_.map());
  Relations::Result change;
  ASSERT_TRUE(relations.Follow(ann, bob, kNow + 1, &change).done());
  ASSERT_TRUE(relations.Unfollow(ann, bob, kNow + 2, &change).done());
  const auto result = Load({{Raw(ann), Raw(bob)}, {Raw(bob), Raw(ann)}});
  EXPECT_EQ(result.already_there, 1u);
  EXPECT_EQ(LiveRows("following"), (Pairs{{Raw(bob), Raw(ann)}}));
  EXPECT_EQ(LiveRows("follower"), (Pairs{{Raw(bob), Raw(ann)}}));
}

TEST_F(BulkLoadTest, ADeliveryThatIsGivenIsSetAndElseKept) {
  const UserId ann = shards_.UserOn(0, 1), bob = shards_.UserOn(1, 1), eve = shards_.UserOn(1, 2);
  const auto load = [&](const std::vector<std::pair<UserId, std::optional<Delivery>>>& edges) {
    BulkLoader loader(shards_.config(), shards_.map());
    for (const auto& [dst, delivery] : edges) loader.Add(ann, dst, delivery);
    BulkLoader::Result result;
    EXPECT_TRUE(loader.Load(kNow, {}, &result).done());
    return result;
  };
  EXPECT_EQ(
      load({{bob, Delivery::kNoReposts}, {bob, {}}, {bob, Delivery::kNone}, {eve, {}}}).chosen, 0u);
  const auto deliveries = [&](const std::string& table) {
    return std::pair(
        shards_.Total("SELECT SUM(delivery) FROM " + table + " WHERE dst = " + ToString(bob)),
        shards_.Total("SELECT SUM(delivery) FROM " + table + " WHERE dst = " + ToString(eve)));
  };
  EXPECT_EQ(deliveries("following"), Sums(2, 0));
  EXPECT_EQ(deliveries("follower"), Sums(2, 0));
  shards_.ExpectConsistent();

  const auto again = load({{bob, {}}, {eve, Delivery::kNoReposts}});
  EXPECT_EQ(again.already_there, 2u);
  EXPECT_EQ(again.chosen, 1u);
  EXPECT_EQ(deliveries("following"), Sums(2, 1));
  EXPECT_EQ(deliveries("follower"), Sums(2, 0)) << "a mirror writes it";
  EXPECT_EQ(shards_.PendingChanges(), 1);
}

// An import that was killed between the directions and run again leaves a reverse row of a higher
// version.
TEST_F(BulkLoadTest, ADeliveryIsAboveBothRows) {
  const UserId ann = shards_.UserOn(0, 1), bob = shards_.UserOn(1, 1);
  const auto load = [&](uint64_t unix_us, std::optional<Delivery> delivery) {
    BulkLoader loader(shards_.config(), shards_.map());
    loader.Add(ann, bob, delivery);
    BulkLoader::Result result;
    EXPECT_TRUE(loader.Load(unix_us, {}, &result).done());
    return result.chosen;
  };
  load(kNow, {});
  shards_.of(bob).Execute("DELETE FROM follower");
  load(kNow + 1'000'000, {});
  EXPECT_EQ(load(kNow + 2'000'000, Delivery::kNone), 1u);
  const auto ver = [&](const std::string& table) {
    return shards_.Total("SELECT SUM(ver) FROM " + table);
  };
  EXPECT_GT(ver("following"), ver("follower"));
}

TEST_F(BulkLoadTest, DirectionsThatDisagreeAreReported) {
  shards_.PutFollower(UserId{1}, UserId{2});
  BulkLoader loader(shards_.config(), shards_.map());
  loader.Add(UserId{5}, UserId{6});
  BulkLoader::Result result;
  const Status status = loader.Load(kNow, {}, &result);
  EXPECT_TRUE(status.never());
  EXPECT_THAT(status.message, ::testing::HasSubstr("1 forward and 2 reverse"));
}

TEST_F(BulkLoadTest, AShardOutOfReachIsNamed) {
  Config config = shards_.config();
  config.shards[1].port = 1;
  BulkLoader loader(config, shards_.map());
  loader.Add(UserId{1}, UserId{2});
  BulkLoader::Result result;
  const Status status = loader.Load(kNow, {}, &result);
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
}

}  // namespace
}  // namespace fanline::mysql
