#include "audit/look.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_reader_stores.h"

namespace fanline::audit {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr UserId kReader{1}, kPushed{7}, kMerged{8};

Item At(uint64_t post) {
  const UserId odd = post == 33 ? kReader : kMerged;
  return {PostId{post}, static_cast<UnixMs>(post), post % 10 == 0 ? kPushed : odd};
}

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
    for (const UserId author : {kPushed, kMerged}) Follow(author, true);
    truth_.mysql.SetMode(kMerged, true);
    for (const uint64_t post : {10, 20, 30, 40}) Publish(kPushed, post);
    for (const uint64_t post : {15, 35}) Publish(kMerged, post);
    timelines_.timeline = {.reader = kReader,
                           .state = TimelineState::kReady,
                           .items = {At(40), At(30), At(20), At(10)},
                           .marks = {.authors = {kMerged}, .more = false}};
  }

  void Follow(UserId author, bool live) { truth_.mysql.WriteForward(kReader, author, live); }
  void Publish(UserId author, uint64_t post) {
    const Item item = At(post);
    truth_.mysql.Do(
        ApplyEvents{1, 0, {{EventKind::kPublished, item.post, author, item.created_at, 0}}});
  }
  Look LookAt(LookLimits limits = {}, bool own_posts = false) {
    Look look;
    Looker looker(truth_, timelines_, 2, own_posts, limits);
    EXPECT_TRUE(looker.LookAt(kReader, &look).done());
    return look;
  }

  fakes::FakeReaderStores truth_{RangeLayout(1), WindowLimits()};
  Timelines timelines_;
};

TEST_F(LookTest, AWholeTimelineHasNoDifferences) {
  const Look look = LookAt();
  EXPECT_TRUE(look.judged);
  EXPECT_EQ(look.items, 4u);
  EXPECT_THAT(look.differences, IsEmpty());
  EXPECT_LE(truth_.calls, 4u);
}

TEST_F(LookTest, WithoutItsMarkAnAuthorsMergedPostsAreMissing) {
  timelines_.timeline.marks = {};
  const Look look = LookAt();
  EXPECT_EQ(MissingIn(look.differences), 2u);
  EXPECT_EQ(look.differences.front().item, At(35));
}

// Its next posts would come without a hint, and be on no page.
TEST_F(LookTest, TheMarkOfAnAnnouncedAuthorIsMissedWithoutAPost) {
  Publish(kPushed, 50);
  timelines_.timeline.items = {At(50), At(40)};
  timelines_.timeline.floor = 35;  // his newest
  timelines_.timeline.marks = {};
  EXPECT_THAT(LookAt().differences, IsEmpty()) << "followers are not told yet";
  truth_.mysql.Do(AnnounceAuthor{1, 0, kMerged});
  const Look look = LookAt();
  ASSERT_THAT(look.differences, SizeIs(1));
  EXPECT_EQ(look.differences[0].kind, Kind::kMissingMark);
  EXPECT_EQ(look.differences[0].mark, Mark{kMerged});
}

TEST_F(LookTest, BelowTheFloorNothingIsReadOrJudged) {
  timelines_.timeline.floor = 20;
  timelines_.timeline.items = {At(40), At(30)};
  const Look look = LookAt();
  EXPECT_THAT(look.differences, IsEmpty());
  EXPECT_EQ(look.items, 2u);
}

TEST_F(LookTest, AKeyThatIsNoTimelineIsFoundWithoutTheTruth) {
  timelines_.timeline = {.reader = kReader, .problem = "WRONGTYPE"};
  const Look look = LookAt();
  EXPECT_TRUE(look.judged);
  EXPECT_FALSE(look.gone);
  ASSERT_THAT(look.differences, SizeIs(1));
  EXPECT_EQ(look.differences[0].kind, Kind::kMalformed);
  EXPECT_EQ(truth_.calls, 0u);
}

TEST_F(LookTest, OneThatIsNotLiveOrBeingRebuiltIsNotJudged) {
  timelines_.timeline.state = TimelineState::kNotLive;
  EXPECT_TRUE(LookAt().gone);
  EXPECT_FALSE(LookAt().judged);
  timelines_.timeline.state = TimelineState::kBuilding;
  EXPECT_FALSE(LookAt().gone);
  EXPECT_FALSE(LookAt().judged);
  EXPECT_EQ(truth_.calls, 0u);
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
  EXPECT_FALSE(LookAt({.most_followees = 2, .most_marked = 1}).too_much);
}

TEST_F(LookTest, OfMoreThanCanBeReadOnlyWhatIsMissingIsJudged) {
  timelines_.timeline.items = {At(50), At(30), At(20), At(10)};  // 50 too much, and 40 not there
  const Look look = LookAt({.most_items = 2});
  EXPECT_EQ(MissingIn(look.differences), 1u);
  EXPECT_EQ(SurplusIn(look.differences), 0u);
}

TEST_F(LookTest, AServiceThatIsAwayIsNamed) {
  Look look;
  truth_.mysql_fails = Status::Later("mysql_0", "away");
  EXPECT_EQ(Looker(truth_, timelines_, 2, false).LookAt(kReader, &look).resource, "mysql_0");
  EXPECT_FALSE(look.judged);
  truth_.mysql_fails = Status::Done();
  truth_.confirm_fails = Status::Later("mysql_1", "read-only");
  EXPECT_EQ(Looker(truth_, timelines_, 2, false).LookAt(kReader, &look).resource, "mysql_1");
  EXPECT_FALSE(look.judged);
  timelines_.status = Status::Later("redis", "away");
  EXPECT_EQ(Looker(truth_, timelines_, 2, false).LookAt(kReader, &look).resource, "redis");
}

TEST_F(LookTest, OnesOwnPostsBelongThereWhereHomeTimelinesHoldThem) {
  Publish(kReader, 33);
  EXPECT_EQ(MissingIn(LookAt({}, true).differences), 1u);
  EXPECT_THAT(LookAt().differences, IsEmpty());
  timelines_.timeline.items = {At(40), At(33), At(30), At(20), At(10)};
  EXPECT_THAT(LookAt({}, true).differences, IsEmpty());
  EXPECT_EQ(SurplusIn(LookAt().differences), 1u);
}

TEST_F(LookTest, AnotherVersionOfTheMutesIsADifference) {
  const auto mute = [&](UserId author) {
    return truth_.mysql.relations.Do(ChangeMutes{.user = kReader, .authors = {author}}).now.version;
  };
  timelines_.timeline.mutes = mute(kPushed);
  EXPECT_THAT(LookAt().differences, IsEmpty());
  mute(UserId{99});
  const Look first = LookAt();
  ASSERT_THAT(first.differences, SizeIs(1));
  EXPECT_EQ(first.differences[0].kind, Kind::kMutes);
  EXPECT_EQ(InBoth(first.differences, LookAt().differences).size(), 1u);
  timelines_.timeline.mutes = truth_.mysql.relations.mutes(kReader).version;
  mute(UserId{98});
  EXPECT_THAT(InBoth(first.differences, LookAt().differences), IsEmpty())
      << "one change in flight, then another";
  timelines_.timeline.mutes = 0;
  const Look untold = LookAt();
  ASSERT_THAT(untold.differences, SizeIs(1));
  mute(UserId{97});
  EXPECT_THAT(InBoth(untold.differences, LookAt().differences), IsEmpty())
      << "the same, of a timeline that names none";
}

TEST_F(LookTest, WhoFollowsNobodyHasNothing) {
  for (const UserId author : {kPushed, kMerged}) Follow(author, false);
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
