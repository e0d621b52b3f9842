// A walk over table `repost` of a real shard, and what it deletes there.
#include "backends/mysql/posts/repost_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/posts/post_store.h"
#include "backends/mysql/sql/sql_text.h"
#include "tests/integration/mysql/demotable_primary.h"
#include "tests/integration/mysql/shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

class RepostSweepTest : public ::testing::Test {
 protected:
  static constexpr Shard kHere = 0;
  static constexpr UserId kFar{7};

  // Stored as a dispatcher does.
  void Apply(std::vector<FeedEvent> events) {
    ASSERT_TRUE(PostService().Do(shards_.on(kHere), {1, kHere, std::move(events)}).status.done());
  }
  static FeedEvent Repost(UserId by, uint64_t post, uint64_t original) {
    return {EventKind::kPublished, PostId{post}, by, 1'000, 0, {PostId{original}, kFar}};
  }
  static RepostsSwept::Repost Shown(UserId by, uint64_t post, uint64_t original) {
    return {{by, PostId{post}}, {PostId{original}, kFar}};
  }
  RepostsSwept Sweep(const RepostPlace& after, uint32_t limit) {
    return RepostSweepService().Do(shards_.on(kHere), SweepReposts{0, kHere, after, limit});
  }
  int64_t Rows() { return shards_.Number(kHere, "SELECT COUNT(*) FROM repost"); }

  testing::Seeded seeded_;
  Shards shards_;
  const UserId ann_ = shards_.UserOn(kHere, 1), bob_ = shards_.UserOn(kHere, 2);
};

TEST_F(RepostSweepTest, RowsOfDeletedPostsGoAndAllOthersStay) {
  Apply({Repost(ann_, 11, 5), Repost(bob_, 12, 5), Repost(bob_, 13, 6), Repost(ann_, 14, 6)});
  Apply({{EventKind::kDeleted, PostId{12}, bob_, 0, 0},
         {EventKind::kHidden, PostId{13}, bob_, 0, 1}});
  // Neither a row without its post means anything, nor one whose post shows another.
  shards_.on(kHere).Execute(Sql("INSERT INTO repost VALUES (5,", ann_, ",99), (6,", ann_, ",11)"));
  RepostsSwept swept = Sweep({}, 100);
  EXPECT_THAT(swept.reposts, UnorderedElementsAreArray(
                                 {Shown(ann_, 11, 5), Shown(bob_, 13, 6), Shown(ann_, 14, 6)}));
  EXPECT_EQ(swept.rows, 6u);
  EXPECT_EQ(swept.last, (RepostPlace{PostId{6}, bob_, PostId{13}}));
  EXPECT_TRUE(swept.over);
  EXPECT_EQ(Rows(), 5);
  EXPECT_EQ(Sweep({}, 100).rows, 5u);
}

TEST_F(RepostSweepTest, PagesOfEverySizeMeetEachRowOnce) {
  std::vector<RepostsSwept::Repost> all;
  std::vector<FeedEvent> events;
  for (uint64_t i = 0; i < 60; ++i) {
    const UserId by = shards_.UserOn(kHere, 1 + seeded_.Below(4));
    const uint64_t original = 1 + seeded_.Below(4);
    events.push_back(Repost(by, 100 + i, original));
    all.push_back(Shown(by, 100 + i, original));
  }
  Apply(events);
  for (const uint32_t limit : {1u, 2u, 7u, 60u, 61u}) {
    std::vector<RepostsSwept::Repost> met;
    RepostPlace place;
    for (bool over = false; !over;) {
      const RepostsSwept swept = Sweep(place, limit);
      EXPECT_LE(swept.rows, limit);
      EXPECT_EQ(swept.over, swept.rows < limit);
      EXPECT_EQ(swept.rows, swept.reposts.size());
      met.insert(met.end(), swept.reposts.begin(), swept.reposts.end());
      EXPECT_TRUE(swept.rows == 0 ? swept.last == place : swept.last > place);
      place = swept.last;
      over = swept.over;
    }
    EXPECT_THAT(met, UnorderedElementsAreArray(all)) << limit;
  }
}

TEST_F(RepostSweepTest, MoreRowsGoThanOneStatementTakes) {
  constexpr uint64_t kMany = 700;
  std::vector<FeedEvent> events;
  for (uint64_t i = 1; i <= kMany; ++i) events.push_back(Repost(ann_, i, 5'000));
  for (uint64_t i = 1; i <= kMany; ++i) {
    events.push_back({EventKind::kDeleted, PostId{i}, ann_, 0, 0});
  }
  Apply(events);
  EXPECT_EQ(Rows(), static_cast<int64_t>(kMany));
  EXPECT_THAT(Sweep({}, 1'000).reposts, IsEmpty());
  EXPECT_EQ(Rows(), 0);
  // A publish that comes once more makes the row anew, and the next walk meets it.
  Apply({Repost(ann_, 1, 5'000)});
  EXPECT_EQ(Rows(), 1);
  EXPECT_THAT(Sweep({}, 1'000).reposts, IsEmpty());
  EXPECT_EQ(Rows(), 0);
}

TEST_F(RepostSweepTest, AServerThatWasDemotedIsNotBelieved) {
  DemotablePrimary primary(shards_.config(), 1);
  Connection connection(shards_.config(), 1);
  connection.Open();
  const SweepReposts request{0, 1, {}, 10};
  EXPECT_TRUE(RepostSweepService().Do(connection, request).over);
  primary.SetReadOnly("ON");
  EXPECT_THROW(RepostSweepService().Do(connection, request), MysqlError);
}

TEST_F(RepostSweepTest, OriginalsAreRead) {
  Apply({{EventKind::kPublished, PostId{5}, ann_, 1'000, 0},
         {EventKind::kDeleted, PostId{5}, ann_, 0, 0}});
  const OriginalsRead read = RepostSweepService().Do(
      shards_.on(kHere), ReadOriginals{0, kHere, {{PostId{5}, ann_}, {PostId{6}, ann_}}});
  ASSERT_EQ(read.states.size(), 2u);
  EXPECT_TRUE(read.states[0]->deleted && read.states[0]->created_at);
  EXPECT_FALSE(read.states[1]->deleted);
}

}  // namespace
}  // namespace fanline::mysql
