// Ranges that hold no follower are left out.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

constexpr UserId kOfRange0{12}, kOfRange2{2}, kOfRange3{1}, kAlsoOfRange3{4};

// Its store says in which buckets Ann has followers.
struct LeavingOut : World {
  explicit LeavingOut(bool own_posts = false) : World({.sample_rate = 1}, kRanges, 2, own_posts) {
    reads_followers = true;
  }
  void Follow(UserId reader, bool live = true) {
    mysql.ApplyReverse(reader, kAnn, ++version, live);
  }
  uint64_t version = 0;
};

std::vector<Range> RangesOf(const Logged& post) {
  std::vector<Range> ranges;
  for (const auto& [range, hint] : post.hints) ranges.push_back(range);
  return ranges;
}

TEST(EmptyRanges, FollowersAreReadOfAuthorsWhoHaveNoMoreThanThereAreRanges) {
  for (const uint32_t ranges : {1u, 4u, 64u, 1024u}) {
    World w(Limits{}, ranges);
    w.reads_followers = true;
    w.Give(Published());
    w.Step();
    ASSERT_EQ(w.transactions.size(), 1u);
    EXPECT_EQ(w.transactions[0].most_followers, ranges);
  }
}

TEST(EmptyRanges, OnlyRangesThatHoldAFollowerGetAHint) {
  LeavingOut w;
  w.Follow(kOfRange0);
  w.Follow(kOfRange2);
  w.Follow(kOfRange2, false);
  w.Follow(kOfRange3);
  w.Follow(kAlsoOfRange3);
  w.Dispatch(Published());
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{0, 3}));
  EXPECT_EQ(w.committed, 1);
}

TEST(EmptyRanges, TheAuthorsOwnRangeIsNotLeftOutWhereHomeTimelinesHoldOnesOwnPosts) {
  const Range own = RangeLayout(kRanges).RangeOf(kAnn);
  const UserId others[] = {kOfRange0, kOfRange2, kOfRange3};
  for (const UserId follower : others) {
    LeavingOut w(true);
    w.Follow(follower);
    w.Dispatch(Published());
    std::set<Range> expected{RangeLayout(kRanges).RangeOf(follower), own};
    ASSERT_EQ(w.log.size(), 1u);
    EXPECT_EQ(RangesOf(w.log[0]), std::vector<Range>(expected.begin(), expected.end()));
  }
}

TEST(EmptyRanges, ASampledHintSaysItsRangeAndHowManyThereAre) {
  LeavingOut w;
  w.Follow(kOfRange2);
  w.Follow(kOfRange3);
  w.Dispatch(Published());
  ASSERT_EQ(w.log.size(), 1u);
  for (const auto& [range, hint] : w.log[0].hints) {
    const auto& sample = std::get<Hint::Post>(hint.what).sample;
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->part, static_cast<uint32_t>(range));
    EXPECT_EQ(sample->parts, 2u);
    EXPECT_EQ(sample->followers, 2u);
  }
}

TEST(EmptyRanges, AnEventWithoutAnyHintIsDoneOnceItsRowIsCommitted) {
  LeavingOut w;
  w.Give(Published());
  w.Step();
  w.Pass(std::chrono::seconds(1));
  w.Step();
  EXPECT_LE(w.committed, 0) << "its row is not committed";
  w.Store();
  w.Step();
  EXPECT_TRUE(w.appends.empty()) << "there is nothing to acknowledge";
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 1);
  EXPECT_EQ(w.dispatcher.events_open(), 0u);
}

TEST(EmptyRanges, AllRangesGetHintsOfAnAuthorWhoseFollowersAreNotKnown) {
  LeavingOut w;
  w.Give(Published());
  w.Step();
  ASSERT_EQ(w.transactions.size(), 1u);
  EventsApplied applied{w.transactions.front().id, {}, {{}}};
  applied.followers = Status::Later("mysql_0", "the read was cut");
  w.transactions.clear();
  w.inbox.emplace_back(std::move(applied));
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{0, 1, 2, 3}));
  EXPECT_EQ(w.committed, 1) << "the row is committed all the same";
}

TEST(EmptyRanges, ARetriedAppendKeepsItsSet) {
  LeavingOut w;
  w.Follow(kOfRange0);
  w.Follow(kOfRange3);
  w.Give(Published());
  w.TakeAndStore();
  w.Refuse(Status::Later("kafka", "timed out"));
  w.Follow(kOfRange0, false);
  w.Follow(kOfRange2);
  w.Step();
  EXPECT_TRUE(w.appends.empty()) << "without any back-off";
  EXPECT_LE(w.committed, 0);
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{0, 3}));
  EXPECT_EQ(w.committed, 1);
}

TEST(EmptyRanges, ARedeliveredEventGoesWhereFollowersAreNow) {
  LeavingOut w;
  w.Dispatch(Published());
  EXPECT_TRUE(w.log.empty());
  w.Follow(kOfRange2);
  w.Give(Published());  // nobody knows that the first one was done
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{2}));
}

}  // namespace
}  // namespace fanline::dispatcher
