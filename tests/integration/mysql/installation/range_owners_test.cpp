// Owner epochs on real shards.
#include "backends/mysql/installation/range_owners.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {
namespace {

class RangeOwnersTest : public ::testing::Test {
 protected:
  template <typename Request>
  RangeOwned Ask(Request request) {
    const RangeOwned owned = fanline::Ask(owners_, request);
    EXPECT_TRUE(owned.status.done()) << owned.status.message;
    return owned;
  }

  Shards shards_;
  MysqlRangeOwners owners_{shards_.config(), {}, kNoLog, {shards_.map(), RangeLayout(16)}};
};

TEST_F(RangeOwnersTest, OwnedAreTheRangesThatAPusherEverAcquired) {
  ShardConnections connections(shards_.config());
  std::vector<bool> expected(16), owned;
  const auto read = [&] {
    const auto status = ReadOwnedRanges(connections, RangeLayout(16), shards_.map(), &owned);
    EXPECT_TRUE(status.done()) << status.message;
    return owned;
  };
  EXPECT_EQ(read(), expected);
  for (const Range range : {0, 5, 15}) {  // on both shards
    Ask(AcquireRange{.range = range, .start = 71});
    expected[static_cast<size_t>(range)] = true;
  }
  EXPECT_EQ(read(), expected);
}

TEST_F(RangeOwnersTest, OfCrashesWithoutEndTheNewestAreKept) {
  for (uint64_t start = 1; start <= 30; ++start) Ask(AcquireRange{.range = 9, .start = start});
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM range_start"), 17);
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM range_start WHERE token > 13"), 17);
}

TEST_F(RangeOwnersTest, ARangesRowLiesOnTheShardOfItsFirstBucket) {
  for (Range range = 0; range < 16; ++range) {
    Ask(AcquireRange{.range = range, .start = 71});
  }
  for (Shard shard = 0; shard < shards_.count(); ++shard) {
    shards_.on(shard).Query("SELECT range_id FROM range_owner", [&](const Row& row) {
      const auto range = static_cast<Range>(row.Int64(1));
      EXPECT_EQ(shards_.map().ShardOf(RangeLayout(16).First(range)), shard);
    });
  }
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM range_owner"), 16);
}

TEST_F(RangeOwnersTest, ConcurrentOwnersNeverGetTheSameEpoch) {
  Replies<RangeOwned> replies, other_replies;
  MysqlRangeOwners other(shards_.config(), {}, kNoLog, {shards_.map(), RangeLayout(16)});
  constexpr uint64_t kEach = 100;
  for (uint64_t id = 1; id <= kEach; ++id) {
    owners_.Submit(AcquireRange{id, 7, id}, replies);
    other.Submit(AcquireRange{id, 7, kEach + id}, other_replies);
  }
  std::set<uint64_t> epochs;
  for (uint64_t id = 1; id <= kEach; ++id) {
    const auto one = replies.Await(id), two = other_replies.Await(id);
    EXPECT_TRUE(one.status.done()) << one.status.message;
    EXPECT_TRUE(two.status.done()) << two.status.message;
    epochs.insert(one.epoch);
    epochs.insert(two.epoch);
  }
  EXPECT_EQ(epochs.size(), 2 * kEach);
}

}  // namespace
}  // namespace fanline::mysql
