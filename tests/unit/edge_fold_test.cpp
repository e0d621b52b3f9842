#include "fanline/wire/edge_fold.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "fanline/model/bucket.h"
#include "tests/unit/seeded.h"

namespace fanline {
namespace {

using ::testing::ElementsAre;
using testing::Seeded;

Edge Follow(uint64_t src, uint64_t dst, uint64_t ver) {
  return {UserId{src}, UserId{dst}, ver, true, static_cast<UnixMs>(1000 + ver)};
}
Edge Unfollow(uint64_t src, uint64_t dst, uint64_t ver) {
  return {UserId{src}, UserId{dst}, ver, false, 0};
}

TEST(Fold, WritesTheNewestOfAStormAndAnswersEveryMessageWithIt) {
  const Folded folded =
      Fold(std::vector{Unfollow(1, 5, 8), Follow(1, 5, 9), Follow(1, 5, 7), Follow(1, 5, 9)}, {});
  EXPECT_THAT(folded.rows, ElementsAre(Follow(1, 5, 9)));
  EXPECT_THAT(folded.counters, ElementsAre(CounterChange{UserId{5}, 1}));
  const EdgeMirrored newest{{UserId{1}, UserId{5}}, 9};
  EXPECT_THAT(folded.mirrored, ElementsAre(newest, newest, newest, newest));
}

TEST(Fold, AnotherDeliveryIsWrittenAndCountsNothing) {
  Edge muted = Follow(1, 5, 4);
  muted.delivery = Delivery::kNone;
  const Folded folded = Fold(std::vector{muted}, std::vector{Follow(1, 5, 3)});
  EXPECT_THAT(folded.rows, ElementsAre(muted));
  EXPECT_THAT(folded.counters, ElementsAre());
}

TEST(Fold, CountsPerFollowedUserOnceAndLeavesOutWhatComesToNothing) {
  const std::vector rows{Follow(1, 5, 3)};
  const Folded folded = Fold(std::vector{Follow(2, 6, 4), Follow(3, 6, 4), Unfollow(1, 5, 4),
                                         Follow(2, 5, 4), Follow(4, 6, 4)},
                             rows);
  EXPECT_THAT(folded.counters, ElementsAre(CounterChange{UserId{6}, 3}));
  EXPECT_EQ(folded.rows.size(), 5u);
}

TEST(Fold, LocksInTheOrderOfThePrimaryKeyEachEdgeOnce) {
  ASSERT_LT(BucketOf(UserId{2}), BucketOf(UserId{3}));
  ASSERT_LT(BucketOf(UserId{3}), BucketOf(UserId{1}));
  const std::vector messages{Follow(1, 5, 1), Follow(1, 9, 1), Follow(2, 5, 1), Follow(3, 5, 1),
                             Follow(2, 5, 2)};
  EXPECT_THAT(EdgesToLock(messages),
              ElementsAre(EdgeKey{UserId{2}, UserId{5}}, EdgeKey{UserId{3}, UserId{5}},
                          EdgeKey{UserId{1}, UserId{5}}, EdgeKey{UserId{1}, UserId{9}}));
}

// The tables of a reverse shard, with what must hold at every commit.
struct ReverseShard {
  std::map<EdgeKey, EdgeState> rows;
  std::map<UserId, int64_t> fans;

  void Commit(std::span<const Edge> messages) {
    std::vector<Edge> locked;
    for (const EdgeKey& edge : EdgesToLock(messages)) {
      if (const auto row = rows.find(edge); row != rows.end()) {
        locked.push_back(EdgeOf(edge, row->second));
      }
    }
    const Folded folded = Fold(messages, locked);
    for (const Edge& row : folded.rows) {
      ASSERT_GT(row.ver, rows[row.key()].ver) << "a version went back";
      rows[row.key()] = row.state();
    }
    for (const auto& counter : folded.counters) {
      ASSERT_NE(counter.by, 0);
      fans[counter.user] += counter.by;
      ASSERT_GE(fans[counter.user], 0);
    }
    ASSERT_EQ(folded.mirrored.size(), messages.size());
    for (size_t i = 0; i < messages.size(); ++i) {
      ASSERT_EQ(folded.mirrored[i].edge, messages[i].key());
      ASSERT_GE(folded.mirrored[i].ver, messages[i].ver) << "msg2 would not satisfy its msg1";
      ASSERT_EQ(folded.mirrored[i].ver, rows[messages[i].key()].ver);
    }
  }
};

// Every version an edge ever had, as its forward row's lock gave them out.
std::vector<Edge> History(Seeded& random) {
  std::map<EdgeKey, Edge> forward;
  std::vector<Edge> history;
  const uint64_t users = 2 + random.Below(4);
  for (uint64_t changes = 1 + random.Below(40); changes > 0; --changes) {
    const uint64_t src = 1 + random.Below(users), dst = 1 + random.Below(users);
    if (src == dst) continue;
    Edge& edge = forward[{UserId{src}, UserId{dst}}];
    const uint64_t ver = edge.ver + 1 + random.Below(3);
    edge = edge.live ? Unfollow(src, dst, ver) : Follow(src, dst, ver);
    history.push_back(edge);
  }
  return history;
}

ReverseShard Newest(const std::vector<Edge>& history) {
  ReverseShard newest;
  for (const Edge& edge : history) newest.rows[edge.key()] = edge.state();
  for (const auto& [edge, state] : newest.rows) newest.fans[edge.dst] += state.live ? 1 : 0;
  return newest;
}

// Commits `messages` in batches of random size, some batches twice.
void CommitInBatches(std::span<const Edge> messages, Seeded& random, ReverseShard& shard) {
  for (size_t begin = 0; begin < messages.size();) {
    const size_t size = std::min<size_t>(messages.size() - begin, 1 + random.Below(8));
    for (uint64_t times = 1 + random.Below(2); times > 0; --times) {
      shard.Commit(messages.subspan(begin, size));
      if (::testing::Test::HasFatalFailure()) return;
    }
    begin += size;
  }
}

TEST(Fold, AnyOrderDuplicationAndCutIntoBatchesEndsInTheSameRowsAndCounters) {
  Seeded random;
  for (int round = 0; round < 5'000; ++round) {
    const std::vector<Edge> history = History(random);
    std::vector<Edge> messages = history;
    for (const Edge& edge : history) {
      if (random.OneIn(3)) messages.push_back(edge);
    }
    std::shuffle(messages.begin(), messages.end(), random.engine());
    ReverseShard shard;
    ASSERT_NO_FATAL_FAILURE(CommitInBatches(messages, random, shard));
    ReverseShard newest = Newest(history);
    ASSERT_EQ(shard.rows, newest.rows);
    std::erase_if(shard.fans, [](const auto& count) { return count.second == 0; });
    std::erase_if(newest.fans, [](const auto& count) { return count.second == 0; });
    ASSERT_EQ(shard.fans, newest.fans);
    // From the start once more, shuffled: nothing changes.
    std::shuffle(messages.begin(), messages.end(), random.engine());
    const auto before = shard.rows;
    ASSERT_NO_FATAL_FAILURE(CommitInBatches(messages, random, shard));
    ASSERT_EQ(shard.rows, before);
  }
}

}  // namespace
}  // namespace fanline
