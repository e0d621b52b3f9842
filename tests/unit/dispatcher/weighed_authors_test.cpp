// Authors that are weighed, and switched by themselves.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

std::vector<Range> WeighedIn(const Logged& logged) {
  std::vector<Range> ranges;
  for (const auto& [range, hint] : logged.hints) {
    if (std::get<Hint::Post>(hint.what).weighed_since > 0) ranges.push_back(range);
  }
  return ranges;
}

// A dispatcher that weighs everybody with a follower; Ann has one.
struct Weighing : World {
  explicit Weighing(uint64_t above = 10) : World({.modes = {.pull_above = above}}) {
    mysql.ApplyReverse(UserId{5}, kAnn, 1, true);
  }
  void Weigh(uint64_t live) { mysql.Do(WeighAuthor{1, 0, kAnn, live, {}}); }
};

TEST(Dispatcher, APostIsWeighedInOneOfItsRanges) {
  Weighing w;
  w.Dispatch(Published());
  ASSERT_EQ(w.log.size(), 1u);
  ASSERT_EQ(w.log[0].hints.size(), kRanges);
  const auto in = WeighedIn(w.log[0]);
  ASSERT_EQ(in.size(), 1u);
  const auto& hint = w.log[0].hints[static_cast<size_t>(in[0])].second;
  EXPECT_EQ(std::get<Hint::Post>(hint.what).weighed_since, w.now.unix_ms);
}

TEST(Dispatcher, PostsAreWeighedInAllRangesInTurnAndInTheSameAgain) {
  std::map<Range, int> in;
  for (uint64_t post = 1; post <= 200; ++post) {
    Weighing w, again;
    w.Give(Published(PostId{post}));
    again.Give(Published(PostId{post}));
    w.RunUntilIdle();
    again.RunUntilIdle();
    ASSERT_EQ(WeighedIn(w.log[0]).size(), 1u);
    EXPECT_EQ(WeighedIn(w.log[0]), WeighedIn(again.log[0]));
    ++in[WeighedIn(w.log[0])[0]];
  }
  ASSERT_EQ(in.size(), kRanges);
  for (const auto& [range, posts] : in) EXPECT_GT(posts, 25) << range;
}

TEST(Dispatcher, OfPostsThatAreStoredTogetherOneIsWeighed) {
  Weighing w;
  for (uint64_t post = 1; post <= 3; ++post) w.Give(Published(PostId{post}));
  w.Dispatch(Published(PostId{9}, UserId{1002}));
  size_t weighed = 0;
  for (const auto& append : w.log) weighed += WeighedIn(append).size();
  EXPECT_EQ(weighed, 1u) << "and nobody who has no follower";
}

TEST(Dispatcher, OnlyPublishedPostsAreWeighed) {
  Weighing w;
  w.Dispatch({EventKind::kDeleted, kPost, kAnn, 0, 0});
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_TRUE(WeighedIn(w.log[0]).empty());
}

TEST(Dispatcher, WhoIsAboveIsPulledFromTheNextPostOn) {
  Weighing w;
  w.Weigh(10);
  w.Dispatch(Published());
  ASSERT_EQ(w.switches.size(), 1u);
  EXPECT_TRUE(w.mysql.posts().at({kAnn, kPost}).pushed);
  w.Dispatch(Published(PostId{78}));
  EXPECT_FALSE(w.mysql.posts().at({kAnn, PostId{78}}).pushed);
  EXPECT_TRUE(w.mysql.IsMarked(kAnn));
  EXPECT_EQ(w.announced, std::vector<UserId>{kAnn});
  EXPECT_EQ(w.switches.size(), 1u);
}

// Every range must be told of the author before he is announced, also while he is weighed.
TEST(Dispatcher, AWeighedPostThatIsMergedAtReadTellsAllRangesUntilTheAuthorIsAnnounced) {
  Weighing w;
  w.mysql.SetMode(kAnn, true);
  w.mysql.LeaveMode(kAnn);
  w.Dispatch(Published());
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.log[0].hints.size(), kRanges);
  EXPECT_EQ(WeighedIn(w.log[0]).size(), 1u);
  EXPECT_EQ(w.announced.size(), 1u);
  w.Dispatch(Published(PostId{78}));
  ASSERT_EQ(w.log.size(), 2u);
  ASSERT_EQ(w.log[1].hints.size(), 1u) << "one range is enough to weigh";
  EXPECT_EQ(WeighedIn(w.log[1]).size(), 1u);
  w.Weigh(10);
  w.Dispatch(Published(PostId{79}));
  EXPECT_EQ(w.log.size(), 2u) << "weighed just now";
  EXPECT_EQ(w.committed, 3);
}

}  // namespace
}  // namespace fanline::dispatcher
