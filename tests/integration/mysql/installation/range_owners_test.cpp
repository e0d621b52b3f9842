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

TEST_F(RangeOwnersTest, EachAssignmentGetsAHigherEpochAndFindsTheStartsThatNobodySettled) {
  auto owned = Ask(AcquireRange{.range = 3, .start = 71});
  EXPECT_EQ(owned.epoch, 1u);
  EXPECT_EQ(owned.crashes, 0u);
  owned = Ask(AcquireRange{.range = 3, .start = 72});
  EXPECT_EQ(owned.epoch, 2u);
  EXPECT_EQ(owned.crashes, 1u);
  owned = Ask(AcquireRange{.range = 4, .start = 73});
  EXPECT_EQ(owned.epoch, 1u);
  EXPECT_EQ(owned.crashes, 0u);
}

TEST_F(RangeOwnersTest, AStartWhoseAnswerWasLostIsNotedOnce) {
  for (int i = 0; i < 3; ++i) Ask(AcquireRange{.range = 3, .start = ~uint64_t{0}});
  const auto owned = Ask(AcquireRange{.range = 3, .start = 2});
  EXPECT_EQ(owned.epoch, 4u);
  EXPECT_EQ(owned.crashes, 1u);
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
    Ask(AcquireRange{.range = range, .start = 71});
    expected[static_cast<size_t>(range)] = true;
  }
  EXPECT_EQ(read(), expected);
}

TEST_F(RangeOwnersTest, ARaisedEpochIsAboveBothAndNoOtherStart) {
  Ask(AcquireRange{.range = 0, .start = 71});
  auto owned = Ask(RaiseEpoch{.range = 0, .above = 41, .start = 71});
  EXPECT_EQ(owned.epoch, 42u);
  EXPECT_EQ(owned.crashes, 0u);
  EXPECT_EQ(Ask(RaiseEpoch{.range = 0, .above = 7, .start = 71}).epoch, 43u);
  owned = Ask(AcquireRange{.range = 0, .start = 72});
  EXPECT_EQ(owned.epoch, 44u);
  EXPECT_EQ(owned.crashes, 1u);
}

TEST_F(RangeOwnersTest, AHintIsSuspectedThatAStartOfAnotherTriedAlone) {
  for (const uint64_t start : {69, 70, 71}) Ask(AcquireRange{.range = 9, .start = start});
  const int64_t hint = 5'000'000'000;
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 3, .offset = hint, .start = 71}).suspected);
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 3, .offset = hint, .start = 71}).suspected)
      << "by its own start";
  Ask(AcquireRange{.range = 9, .start = 72});
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 4, .offset = hint + 1, .start = 72}).suspected);
  auto owned = Ask(SaveStart{.range = 9, .epoch = 4, .offset = hint, .start = 72});
  EXPECT_TRUE(owned.suspected);
  EXPECT_EQ(owned.crashes, 3u);
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 4, .offset = -1, .start = 72}).suspected);
  Ask(AcquireRange{.range = 9, .start = 73});
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 5, .offset = -1, .start = 73}).suspected)
      << "one that tried none suspects none";
}

// Others were tried beside it.
TEST_F(RangeOwnersTest, NoHintIsNamedWhileFewerStartsAreUnsettledThanAreSuspicious) {
  for (const uint64_t start : {71, 72, 73}) Ask(AcquireRange{.range = 9, .start = start});
  Ask(SaveStart{.range = 9, .epoch = 3, .offset = 20, .start = 73});
  EXPECT_TRUE(Ask(SaveStart{.range = 9, .epoch = 0, .offset = 20}).suspected);
  Ask(SettleRange{.range = 9, .start = 72});
  EXPECT_TRUE(Ask(SaveStart{.range = 9, .epoch = 0, .offset = 20}).suspected)
      << "its owner has not heard of it";
  Ask(SaveStart{.range = 9, .epoch = 3, .offset = 20, .start = 73});
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 0, .offset = 20}).suspected);
}

TEST_F(RangeOwnersTest, WhoClaimsAgainTriesNoHintAnyMore) {
  for (const uint64_t start : {69, 70, 71}) Ask(AcquireRange{.range = 9, .start = start});
  Ask(SaveStart{.range = 9, .epoch = 3, .offset = 20, .start = 71});
  Ask(RaiseEpoch{.range = 9, .above = 3, .start = 71});
  Ask(AcquireRange{.range = 9, .start = 72});
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 5, .offset = 20, .start = 72}).suspected);
}

TEST_F(RangeOwnersTest, AnOwnerSettlesItsOwnStartHoweverLate) {
  for (const uint64_t start : {71, 72, 73}) Ask(AcquireRange{.range = 9, .start = start});
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 3, .offset = 20, .start = 73}).refused);
  for (int i = 0; i < 2; ++i) {  // repeated
    const auto owned = Ask(SettleRange{.range = 9, .start = 72});
    EXPECT_FALSE(owned.refused);
    EXPECT_EQ(owned.crashes, 2u);
  }
  EXPECT_EQ(Ask(AcquireRange{.range = 9, .start = 74}).crashes, 2u);
  EXPECT_TRUE(Ask(SaveStart{.range = 9, .epoch = 4, .offset = 20, .start = 74}).suspected);
  Ask(SettleRange{.range = 9, .start = 73});
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 4, .offset = 20, .start = 74}).suspected);
}

TEST_F(RangeOwnersTest, AnOwnerThatLastedForgivesAllUpToItsEpochAndNoneAfter) {
  for (const uint64_t start : {71, 72, 73}) Ask(AcquireRange{.range = 9, .start = start});
  EXPECT_EQ(Ask(SettleRange{.range = 9, .start = 72, .lasted = 2}).crashes, 1u);
  EXPECT_EQ(Ask(AcquireRange{.range = 9, .start = 74}).crashes, 1u);
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 4, .offset = 20, .start = 72}).refused);
  EXPECT_EQ(Ask(AcquireRange{.range = 9, .start = 75}).crashes, 2u) << "forgiven, it tries on";
}

TEST_F(RangeOwnersTest, AnOwnerThatLastedAndGoesOnMayStillCrash) {
  for (const uint64_t start : {71, 72, 73}) Ask(AcquireRange{.range = 9, .start = start});
  const SettleRange lasted{.range = 9, .start = 72, .lasted = 2, .ended = false};
  EXPECT_EQ(Ask(lasted).crashes, 1u) << "the one after it";
  EXPECT_EQ(Ask(AcquireRange{.range = 9, .start = 74}).crashes, 2u) << "that one, and itself";
}

TEST_F(RangeOwnersTest, AnOwnerThatWasReplacedTriesNothing) {
  for (const uint64_t start : {69, 70, 71, 72}) Ask(AcquireRange{.range = 9, .start = start});
  EXPECT_TRUE(Ask(SaveStart{.range = 9, .epoch = 3, .offset = 10, .start = 71}).refused);
  EXPECT_FALSE(Ask(SaveStart{.range = 9, .epoch = 4, .offset = 10, .start = 72}).suspected);
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
