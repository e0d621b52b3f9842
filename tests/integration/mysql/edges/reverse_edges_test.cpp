// Reverse edges made to agree with forward ones, on two real shards.
#include "backends/mysql/edges/reverse_edges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "backends/mysql/edges/recounts.h"
#include "tests/integration/mysql/blocking_edges.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;

class ReverseEdgesTest : public ::testing::Test {
 protected:
  ReverseResult Apply(const std::vector<Edge>& edges) {
    ReverseResult result;
    const Status status = reverse_.Apply(1, edges, &result);
    EXPECT_TRUE(status.done()) << status.message;
    return result;
  }
  Edge At(uint64_t ver, bool live) const { return {ann_, bob_, ver, live, UnixMs{5}}; }

  RelationShards shards_;
  ShardConnections connections_{shards_.config()};
  ReverseEdges reverse_{connections_};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(ReverseEdgesTest, ABatchAnswersInOrderAndCountsEachAuthorOnce) {
  const UserId eve = shards_.UserOn(1, 2);
  const auto result = Apply({{UserId{9}, bob_, 3, true, 1},
                             {UserId{9}, bob_, 5, true, 1},
                             {UserId{8}, eve, 5, true, 1},
                             {UserId{7}, bob_, 6, true, 1},
                             {UserId{9}, bob_, 4, false, 1},
                             {UserId{9}, bob_, 5, true, 1}});
  std::vector<std::pair<uint64_t, int>> answers;
  for (const auto& each : result.applied) answers.push_back({each.ver, each.written});
  EXPECT_THAT(answers, ElementsAre(std::pair(5, 0), std::pair(5, 1), std::pair(5, 1),
                                   std::pair(6, 1), std::pair(5, 0), std::pair(5, 0)));
  EXPECT_EQ(shards_.FansCount(bob_), 2);
  EXPECT_EQ(shards_.FansCount(eve), 1);
  shards_.ExpectCountersMatchRows();
}

TEST_F(ReverseEdgesTest, MoreEdgesThanOneStatementMayNameAreStillOneBatch) {
  std::vector<Edge> edges;
  for (uint64_t n = 0; n < 1'000; ++n) edges.push_back({UserId{50 + n}, bob_, n + 1, true, 1});
  EXPECT_EQ(Apply(edges).applied.size(), edges.size());
  EXPECT_EQ(shards_.FansCount(bob_), 1'000);
  for (const auto& each : Apply(edges).applied) EXPECT_FALSE(each.written);
  EXPECT_EQ(shards_.FansCount(bob_), 1'000);
}

TEST_F(ReverseEdgesTest, ACounterThatGoesBelowZeroIsMarkedAndNotClamped) {
  Apply({At(10, true)});
  shards_.of(bob_).Execute("UPDATE user_fan SET fans_cnt = 0");
  EXPECT_THAT(Apply({At(20, false)}).below_zero, ElementsAre(bob_));
  EXPECT_THAT(MarkedForRecount(shards_.of(bob_), 10),
              ElementsAre(UserCounter{bob_, Counter::kFollowers}));
  EXPECT_EQ(shards_.FansCount(bob_), -1);
}

// I4, I5: eight appliers are given the same versions of a few edges, each in another order, in
// batches, some twice. Whatever happens, the newest wins, no version ever goes back, counters add
// up, and a second pass over everything changes nothing.
TEST_F(ReverseEdgesTest, DuplicateStaleAndPermutedChangesEndInTheNewest) {
  testing::Seeded seeded;
  std::vector<Edge> changes;
  std::vector<UserId> authors = {shards_.UserOn(1, 1), shards_.UserOn(1, 2), shards_.UserOn(1, 3)};
  for (uint64_t src = 101; src <= 108; ++src) {
    for (const UserId dst : authors) {
      for (uint64_t ver = 1; ver <= 12; ++ver) {
        changes.push_back({UserId{src}, dst, ver * 10 + src % 7, seeded.OneIn(2),
                           static_cast<UnixMs>(1 + seeded.Below(50))});
      }
    }
  }
  std::atomic<bool> stop = false;
  std::vector<std::thread> appliers;
  for (int i = 0; i < 8; ++i) {
    appliers.emplace_back([&, seed = seeded.Bits()] {
      std::mt19937_64 random(seed);
      std::vector<Edge> mine = changes;
      mine.insert(mine.end(), changes.begin(), changes.begin() + changes.size() / 4);
      std::shuffle(mine.begin(), mine.end(), random);
      ShardConnections connections(shards_.config());
      ReverseEdges reverse(connections);
      for (size_t begin = 0; begin < mine.size(); begin += 20) {
        const size_t size = std::min<size_t>(20, mine.size() - begin);
        ReverseResult result;
        const Status status = reverse.Apply(1, std::span(mine).subspan(begin, size), &result);
        EXPECT_TRUE(status.done()) << status.message;
        EXPECT_TRUE(result.below_zero.empty());
      }
    });
  }
  std::map<std::string, int64_t> seen;
  std::thread watcher([&] {
    Connection connection(shards_.config(), 1);
    connection.Open();
    while (!stop) {
      connection.Query("SELECT CONCAT(src, ' ', dst), ver FROM follower", [&](const Row& row) {
        int64_t& newest = seen[row.Text(1)];
        EXPECT_GE(row.Int64(2), newest) << row.Text(1);
        newest = std::max(newest, row.Int64(2));
      });
    }
  });
  for (std::thread& applier : appliers) applier.join();
  stop = true;
  watcher.join();

  for (const Edge& edge : changes) {
    if (edge.ver < 120) continue;
    EXPECT_EQ(
        shards_.Reverse(edge.src, edge.dst),
        std::to_string(edge.ver) + " " + (edge.live ? "1 " : "0 ") + std::to_string(edge.pos));
  }
  shards_.ExpectCountersMatchRows();
  const auto before = shards_.Rows("follower");
  for (const auto& each : Apply(changes).applied) EXPECT_FALSE(each.written);
  EXPECT_EQ(shards_.Rows("follower"), before);
  shards_.ExpectCountersMatchRows();
}

}  // namespace
}  // namespace fanline::mysql
