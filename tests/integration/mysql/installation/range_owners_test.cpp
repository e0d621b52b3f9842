// Owner epochs on real shards.
#include "backends/mysql/installation/range_owners.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "backends/mysql/installation/owned_ranges.h"
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

TEST_F(RangeOwnersTest, EachAssignmentGetsAHigherEpochAndCountsAStart) {
  auto owned = Ask(AcquireRange{.range = 3});
  EXPECT_EQ(owned.epoch, 1u);
  EXPECT_EQ(owned.starts, 1u);
  EXPECT_EQ(owned.last_offset, -1);
  owned = Ask(AcquireRange{.range = 3});
  EXPECT_EQ(owned.epoch, 2u);
  EXPECT_EQ(owned.starts, 2u);
  EXPECT_EQ(Ask(AcquireRange{.range = 4}).epoch, 1u);
}

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
    Ask(AcquireRange{.range = range});
    expected[static_cast<size_t>(range)] = true;
  }
  EXPECT_EQ(read(), expected);
}

TEST_F(RangeOwnersTest, ARaisedEpochIsAboveBothAndCountsNoStart) {
  Ask(AcquireRange{.range = 0});
  auto owned = Ask(RaiseEpoch{.range = 0, .above = 41});
  EXPECT_EQ(owned.epoch, 42u);
  EXPECT_EQ(owned.starts, 1u);
  EXPECT_EQ(Ask(RaiseEpoch{.range = 0, .above = 7}).epoch, 43u);
  EXPECT_EQ(Ask(AcquireRange{.range = 0}).epoch, 44u);
}

TEST_F(RangeOwnersTest, ASavedStartIsFoundByTheNextOwnerUntilItIsSettled) {
  Ask(AcquireRange{.range = 9});
  EXPECT_EQ(Ask(SaveStart{.range = 9, .epoch = 1, .offset = 5'000'000'000}).last_offset, -1);
  auto owned = Ask(AcquireRange{.range = 9});
  EXPECT_EQ(owned.last_offset, 5'000'000'000);
  EXPECT_EQ(owned.starts, 2u);
  Ask(SettleRange{.range = 9, .epoch = 2});
  owned = Ask(AcquireRange{.range = 9});
  EXPECT_EQ(owned.last_offset, -1);
  EXPECT_EQ(owned.starts, 1u);
  EXPECT_EQ(owned.epoch, 3u);
}

TEST_F(RangeOwnersTest, AStartThatIsTakenBackLeavesWhatWasThereBefore) {
  for (int i = 0; i < 3; ++i) Ask(AcquireRange{.range = 9});
  Ask(SaveStart{.range = 9, .epoch = 3, .offset = 20});
  const auto before = Ask(AcquireRange{.range = 9});
  Ask(SaveStart{.range = 9, .epoch = 4, .offset = 30});
  const SettleRange taken_back{
      .range = 9, .epoch = 4, .starts = before.starts - 1, .last_offset = before.last_offset};
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(Ask(taken_back).refused) << "the second: a repetition";
  const auto owned = Ask(AcquireRange{.range = 9});
  EXPECT_EQ(owned.last_offset, 20);
  EXPECT_EQ(owned.starts, 4u);
}

TEST_F(RangeOwnersTest, AnOwnerThatWasReplacedChangesNothing) {
  Ask(AcquireRange{.range = 9});
  Ask(AcquireRange{.range = 9});  // the new owner, after a crash
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 2, .offset = 20}).refused);
  EXPECT_TRUE(Ask(SaveStart{.range = 9, .epoch = 1, .offset = 10}).refused);
  EXPECT_TRUE(Ask(SettleRange{.range = 9, .epoch = 1}).refused);
  EXPECT_TRUE(Ask(SettleRange{.range = 9, .epoch = 3}).refused);
  const auto owned = Ask(AcquireRange{.range = 9});
  EXPECT_EQ(owned.last_offset, 20);
  EXPECT_EQ(owned.starts, 3u);
}

TEST_F(RangeOwnersTest, ARangesRowLiesOnTheShardOfItsFirstBucket) {
  for (Range range = 0; range < 16; ++range) Ask(AcquireRange{.range = range});
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
    owners_.Submit(AcquireRange{id, 7}, replies);
    other.Submit(AcquireRange{id, 7}, other_replies);
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
