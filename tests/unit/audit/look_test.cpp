#include "audit/look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace fanline::audit {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr UserId kReader{1}, kPushed{7}, kMerged{8};

Item At(uint64_t post) { return {PostId{post}, static_cast<UnixMs>(post)}; }

struct Truth : ReaderTruth {
  std::vector<UserId> followees{kPushed, kMerged};
  std::map<PostsOf, std::vector<Item>> posts;
  std::vector<UserId> marked{kMerged};
  bool announced = false;
  Status status = Status::Done(), confirmed = Status::Done();
  size_t statements = 0;

  Status Followees(UserId, std::vector<UserId>* out) override {
    ++statements;
    *out = followees;
    return status;
  }
  Status LastAt(const std::vector<UserId>& authors, std::vector<AuthorLastAt>* out) override {
    ++statements;
    for (const UserId author : authors) {
      UnixMs last = 0;
      for (const auto& [of, items] : posts) {
        if (of.author == author && !items.empty()) last = std::max(last, items.front().created_at);
      }
      const bool is_marked = std::find(marked.begin(), marked.end(), author) != marked.end();
      out->push_back({author, last, is_marked, is_marked && announced});
    }
    return status;
  }
  Status Items(const std::vector<PostsOf>& of, const TimeSpan& span, uint32_t limit,
               ItemsRead* out) override {
    ++statements;
    for (const PostsOf& one : of) {
      for (const Item& item : posts[one]) {
        if (item.created_at <= *span.above) continue;
        if (out->items.size() == limit) {
          out->partial = one;
          return status;
        }
        out->items.push_back(item);
      }
    }
    return status;
  }
  Status Confirm() override { return confirmed; }
  void ForgetReads() override {}
  Status Outbox(UserId, const TimeSpan&, uint32_t, std::vector<Item>*) override { return status; }
  Status LookUp(UserId, UserFacts*) override { return status; }
};

struct Timelines : RawTimelines {
  RawTimeline timeline;
  bool indexed = true;
  Status status = Status::Done();

  Status Listed(Range, std::string*, std::vector<UserId>*) override { return status; }
  Status Read(UserId, RawTimeline* out, bool* is_indexed) override {
    *out = timeline;
    *is_indexed = indexed;
    return status;
  }
};

// World: a reader who follows one author of pushed posts and one whose posts are merged at read;
// the timeline is as it should be.
class LookTest : public ::testing::Test {
 protected:
  LookTest() {
    truth_.posts[{kPushed, true}] = {At(40), At(30), At(20), At(10)};
    truth_.posts[{kMerged, false}] = {At(35), At(15)};
    timelines_.timeline = {.reader = kReader,
                           .state = TimelineState::kReady,
                           .items = {At(40), At(30), At(20), At(10)},
                           .marks = {.authors = {kMerged}, .more = false}};
  }

  Look LookAt(LookLimits limits = {}, bool own_posts = false) {
    Look look;
    Looker looker(truth_, timelines_, 2, own_posts, limits);
    EXPECT_TRUE(looker.LookAt(kReader, &look).done());
    return look;
  }

  Truth truth_;
  Timelines timelines_;
};

TEST_F(LookTest, AWholeTimelineHasNoDifferences) {
  const Look look = LookAt();
  EXPECT_TRUE(look.judged);
  EXPECT_EQ(look.items, 4u);
  EXPECT_THAT(look.differences, IsEmpty());
  EXPECT_LE(truth_.statements, 4u);
}

TEST_F(LookTest, WithoutItsMarkAnAuthorsMergedPostsAreMissing) {
  timelines_.timeline.marks = {};
  const Look look = LookAt();
  EXPECT_EQ(MissingIn(look.differences), 2u);
  EXPECT_EQ(look.differences.front().author, kMerged);
}

// Its next posts would come without a hint, and be on no page.
TEST_F(LookTest, TheMarkOfAnAnnouncedAuthorIsMissedWithoutAPost) {
  truth_.posts[{kMerged, false}] = {At(5)};
  timelines_.timeline.floor = 5;
  timelines_.timeline.marks = {};
  EXPECT_THAT(LookAt().differences, IsEmpty()) << "followers are not told yet";
  truth_.announced = true;
  const Look look = LookAt();
  ASSERT_THAT(look.differences, SizeIs(1));
  EXPECT_EQ(look.differences[0].kind, Kind::kMissingMark);
  EXPECT_EQ(look.differences[0].author, kMerged);
}

TEST_F(LookTest, BelowTheFloorNothingIsReadOrJudged) {
  timelines_.timeline.floor = 20;
  timelines_.timeline.items = {At(40), At(30)};
  const Look look = LookAt();
  EXPECT_THAT(look.differences, IsEmpty());
  EXPECT_EQ(look.items, 2u);
}

TEST_F(LookTest, OneThatTheIndexLacksIsFound) {
  timelines_.indexed = false;
  const Look look = LookAt();
  ASSERT_THAT(look.differences, SizeIs(1));
  EXPECT_EQ(look.differences[0].kind, Kind::kNotIndexed);
}

TEST_F(LookTest, AKeyThatIsNoTimelineIsFoundWithoutTheTruth) {
  timelines_.timeline = {.reader = kReader, .problem = "WRONGTYPE"};
  const Look look = LookAt();
  EXPECT_TRUE(look.judged);
  EXPECT_FALSE(look.gone);
  ASSERT_THAT(look.differences, SizeIs(1));
  EXPECT_EQ(look.differences[0].kind, Kind::kMalformed);
  EXPECT_EQ(truth_.statements, 0u);
}

TEST_F(LookTest, OneThatIsNotLiveOrBeingRebuiltIsNotJudged) {
  timelines_.timeline.state = TimelineState::kNotLive;
  EXPECT_TRUE(LookAt().gone);
  EXPECT_FALSE(LookAt().judged);
  timelines_.timeline.state = TimelineState::kBuilding;
  EXPECT_FALSE(LookAt().gone);
  EXPECT_FALSE(LookAt().judged);
  EXPECT_EQ(truth_.statements, 0u);
}

TEST_F(LookTest, WhatIsReadIsBounded) {
  EXPECT_FALSE(LookAt({.most_followees = 1}).judged);
  EXPECT_FALSE(LookAt({.most_marked = 0}).judged);
  EXPECT_TRUE(LookAt({.most_followees = 2, .most_marked = 1}).judged);
}

TEST_F(LookTest, OfMoreThanCanBeReadWhatNeedsNoPostIsCompared) {
  for (const LookLimits limits : {LookLimits{.most_followees = 1}, LookLimits{.most_marked = 0}}) {
    timelines_.indexed = true;
    Look look = LookAt(limits);
    EXPECT_TRUE(look.too_much);
    EXPECT_FALSE(look.judged || look.gone);
    EXPECT_THAT(look.differences, IsEmpty()) << "of posts and marks nothing is known";
    timelines_.indexed = false;
    look = LookAt(limits);
    EXPECT_FALSE(look.judged);
    ASSERT_THAT(look.differences, SizeIs(1));
    EXPECT_EQ(look.differences[0].kind, Kind::kNotIndexed);
  }
  EXPECT_FALSE(LookAt().too_much);
}

TEST_F(LookTest, OfMoreThanCanBeReadOnlyWhatIsMissingIsJudged) {
  timelines_.timeline.items = {At(50), At(30), At(20), At(10)};  // 50 too much, and 40 not there
  const Look look = LookAt({.most_items = 2});
  EXPECT_EQ(MissingIn(look.differences), 1u);
  EXPECT_EQ(SurplusIn(look.differences), 0u);
}

TEST_F(LookTest, AServiceThatIsAwayIsNamed) {
  Look look;
  truth_.status = Status::Later("mysql_0", "away");
  EXPECT_EQ(Looker(truth_, timelines_, 2, false).LookAt(kReader, &look).resource, "mysql_0");
  EXPECT_FALSE(look.judged);
  truth_.status = Status::Done();
  truth_.confirmed = Status::Later("mysql_1", "read-only");
  EXPECT_EQ(Looker(truth_, timelines_, 2, false).LookAt(kReader, &look).resource, "mysql_1");
  EXPECT_FALSE(look.judged);
  timelines_.status = Status::Later("redis", "away");
  EXPECT_EQ(Looker(truth_, timelines_, 2, false).LookAt(kReader, &look).resource, "redis");
}

TEST_F(LookTest, OnesOwnPostsBelongThereWhereHomeTimelinesHoldThem) {
  truth_.posts[{kReader, true}] = {At(33)};
  EXPECT_EQ(MissingIn(LookAt({}, true).differences), 1u);
  EXPECT_THAT(LookAt().differences, IsEmpty());
  timelines_.timeline.items = {At(40), At(33), At(30), At(20), At(10)};
  EXPECT_THAT(LookAt({}, true).differences, IsEmpty());
  EXPECT_EQ(SurplusIn(LookAt().differences), 1u);
}

TEST_F(LookTest, WhoFollowsNobodyHasNothing) {
  truth_.followees.clear();
  timelines_.timeline.items.clear();
  timelines_.timeline.marks = {};
  EXPECT_THAT(LookAt().differences, IsEmpty());
}

TEST(InBoth, IsWhatStayed) {
  const Difference a{.kind = Kind::kMissing, .item = At(1)}, b{.kind = Kind::kExtra, .item = At(1)},
      c{.kind = Kind::kMissing, .item = At(2)};
  EXPECT_THAT(InBoth({a, b, c}, {c, a}), SizeIs(2));
  EXPECT_THAT(InBoth({a}, {b, c}), IsEmpty());
  EXPECT_THAT(Without({a, b, c}, {c, a}), SizeIs(1));
}

}  // namespace
}  // namespace fanline::audit
