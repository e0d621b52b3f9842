// Ranges that hold no follower are left out.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

constexpr UserId kOfRange0{12}, kOfRange2{2}, kOfRange3{1}, kAlsoOfRange3{4};

Limits LeavingOut() {
  Limits limits;
  limits.leave_out_from = kRanges;
  limits.sample_rate = 1;
  return limits;
}

void Follow(World& w, UserId reader, bool live = true) {
  static uint64_t version = 0;
  w.mysql.ApplyReverse(reader, kAnn, ++version, live);
}

std::vector<Range> RangesOf(const Logged& post) {
  std::vector<Range> ranges;
  for (const auto& [range, hint] : post.hints) ranges.push_back(range);
  return ranges;
}

TEST(EmptyRanges, FollowersAreReadFromSixtyFourRangesOn) {
  for (const auto& [ranges, read] : {std::pair(32u, 0u), {64u, 64u}, {1024u, 1024u}}) {
    World w(Limits{}, ranges);
    w.Assign();
    w.Give(Published());
    w.Step();
    ASSERT_EQ(w.transactions.size(), 1u);
    EXPECT_EQ(w.transactions[0].most_followers, read);
    w.RunUntilIdle();
    size_t hints = 0;
    for (const auto& post : w.log) hints += post.hints.size();
    EXPECT_EQ(hints, read == 0 ? ranges : 0) << "nobody follows; with few ranges nobody is asked";
  }
}

TEST(EmptyRanges, OnlyRangesThatHoldAFollowerGetAHint) {
  World w(LeavingOut());
  w.Assign();
  Follow(w, kOfRange0);
  Follow(w, kOfRange2);
  Follow(w, kOfRange2, false);
  Follow(w, kOfRange3);
  Follow(w, kAlsoOfRange3);
  w.Dispatch(Published());
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{0, 3}));
  EXPECT_EQ(w.committed, 1);
}

TEST(EmptyRanges, TheAuthorsOwnRangeIsNotLeftOutWhereHomeTimelinesHoldOnesOwnPosts) {
  const Range own = RangeLayout(kRanges).RangeOf(kAnn);
  const UserId others[] = {kOfRange0, kOfRange2, kOfRange3};
  for (const UserId follower : others) {
    World w(LeavingOut(), kRanges, 2, true);
    w.Assign();
    Follow(w, follower);
    w.Dispatch(Published());
    std::set<Range> expected{RangeLayout(kRanges).RangeOf(follower), own};
    ASSERT_EQ(w.log.size(), 1u);
    EXPECT_EQ(RangesOf(w.log[0]), std::vector<Range>(expected.begin(), expected.end()));
  }
}

TEST(EmptyRanges, ASampledHintSaysItsRangeAndHowManyThereAre) {
  World w(LeavingOut());
  w.Assign();
  Follow(w, kOfRange2);
  Follow(w, kOfRange3);
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
  World w(LeavingOut());
  w.Assign();
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
  World w(LeavingOut());
  w.Assign();
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
  World w(LeavingOut());
  w.Assign();
  Follow(w, kOfRange0);
  Follow(w, kOfRange3);
  w.Give(Published());
  w.TakeAndStore();
  w.Refuse(Status::Later("kafka", "timed out"));
  Follow(w, kOfRange0, false);
  Follow(w, kOfRange2);
  w.Step();
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{0, 3}));
}

TEST(EmptyRanges, ARedeliveredEventGoesWhereFollowersAreNow) {
  World w(LeavingOut());
  w.Assign();
  w.Dispatch(Published());
  EXPECT_TRUE(w.log.empty());
  Follow(w, kOfRange2);
  w.Give(Published());  // nobody knows that the first one was done
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{2}));
}

}  // namespace
}  // namespace fanline::dispatcher
