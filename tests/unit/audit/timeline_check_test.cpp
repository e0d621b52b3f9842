#include "audit/timeline_check.h"

#include <gmock/gmock.h>

#include <optional>

namespace fanline::audit {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr UserId kChecked{1};
constexpr UserId kAuthor{7};
constexpr uint32_t kLeast = 2;  // items of a timeline with a floor

// World: a reader who follows an author of four posts, 10 to 40, at the times of their numbers.
class TimelineCheckTest : public ::testing::Test {
 protected:
  static TimelineTruth Truth(const std::vector<UserId>& readers) {
    std::vector<TimelineTruth::Part> parts(1, TimelineTruth::Part(readers));
    parts[0].AddEdge(kChecked, kAuthor);
    for (const uint64_t post : {10, 20, 30, 40}) parts[0].AddPost(At(post));
    return TimelineTruth(readers, std::move(parts), false);
  }
  // An item of the author whom the post has in all worlds here.
  static Item At(uint64_t post) {
    const UserId merged = post == 25 ? UserId{9} : UserId{8};
    return {PostId{post}, static_cast<UnixMs>(post), post % 10 == 5 ? merged : kAuthor};
  }

  static RawTimeline Ready(const std::vector<uint64_t>& posts, Floor floor = kNoFloor) {
    RawTimeline timeline{.reader = kChecked, .state = TimelineState::kReady, .floor = floor};
    for (const uint64_t post : posts) timeline.items.push_back(At(post));
    return timeline;
  }

  Findings Check(const RawTimeline& timeline, bool indexed = true) {
    TimelineCheck check(truth_, kLeast, show_);
    check.Check(0, timeline, indexed);
    return check.findings();
  }

  const std::vector<UserId> readers_{kChecked};
  const TimelineTruth truth_ = Truth(readers_);
  size_t show_ = 10;
};

TEST_F(TimelineCheckTest, AWholeTimelineIsGood) {
  const auto found = Check(Ready({40, 30, 20, 10}));
  EXPECT_TRUE(found.good());
  EXPECT_EQ(found.timelines, 1u);
  EXPECT_EQ(found.items, 4u);
  EXPECT_EQ(found.trimmed_timelines, 0u);
  EXPECT_THAT(found.differences, IsEmpty());
}

TEST_F(TimelineCheckTest, AnotherVersionOfTheMutesIsFound) {
  std::vector<TimelineTruth::Part> parts(1, TimelineTruth::Part(readers_));
  parts[0].AddMutes(kChecked, 500);
  parts[0].AddMutes(UserId{9}, 900);  // has no timeline
  const TimelineTruth truth(readers_, std::move(parts), false);
  const auto found = [&](const TimelineTruth& of, uint64_t names) {
    RawTimeline timeline = Ready({});
    timeline.mutes = names;
    TimelineCheck check(of, kLeast, show_);
    check.Check(0, timeline, true);
    EXPECT_EQ(check.findings().good(), check.findings().wrong_mutes == 0);
    return check.findings().wrong_mutes;
  };
  EXPECT_EQ(found(truth, 500), 0u);
  for (const uint64_t other : {0, 499, 501}) EXPECT_EQ(found(truth, other), 1u) << other;
  const TimelineTruth nobody(readers_, {TimelineTruth::Part(readers_)}, false);
  EXPECT_EQ(found(nobody, 0), 0u);
  EXPECT_EQ(found(nobody, 500), 1u);
}

TEST_F(TimelineCheckTest, AMarkThatIsMissingOrTooManyIsFound) {
  std::vector<TimelineTruth::Part> parts(1, TimelineTruth::Part(readers_));
  for (const uint64_t author : {7, 8, 9}) parts[0].AddEdge(kChecked, UserId{author});
  parts[0].AddMarked(UserId{9}, false);  // may be marked
  parts[0].AddMarked(UserId{8}, true);   // must be
  parts[0].AddMarked(UserId{5}, true);   // is not followed
  const TimelineTruth truth(readers_, std::move(parts), false);
  const auto found = [&](std::vector<UserId> authors, bool more = false) {
    RawTimeline timeline = Ready({});
    timeline.marks = {.authors = std::move(authors), .more = more};
    TimelineCheck check(truth, kLeast, show_);
    check.Check(0, timeline, true);
    return std::pair(check.findings().missing, check.findings().extra);
  };
  EXPECT_EQ(found({UserId{8}}), std::pair(uint64_t{0}, uint64_t{0}));
  EXPECT_EQ(found({UserId{9}, UserId{8}}), std::pair(uint64_t{0}, uint64_t{0}));
  EXPECT_EQ(found({}), std::pair(uint64_t{1}, uint64_t{0}));
  EXPECT_EQ(found({}, true), std::pair(uint64_t{0}, uint64_t{0})) << "more than it can name";
  EXPECT_EQ(found({UserId{8}, UserId{5}, UserId{7}}), std::pair(uint64_t{0}, uint64_t{2}));
}

TEST_F(TimelineCheckTest, AMarkThatSaysAnotherChoiceIsFound) {
  std::vector<TimelineTruth::Part> parts(1, TimelineTruth::Part(readers_));
  parts[0].AddEdge(kChecked, UserId{8}, false);
  parts[0].AddMarked(UserId{8}, true);
  const TimelineTruth truth(readers_, std::move(parts), false);
  const auto found = [&](std::vector<UserId> no_reposts) {
    RawTimeline timeline = Ready({});
    timeline.marks = {.authors = {UserId{8}}, .no_reposts = std::move(no_reposts)};
    TimelineCheck check(truth, kLeast, show_);
    check.Check(0, timeline, true);
    return std::pair(check.findings().missing, check.findings().extra);
  };
  EXPECT_EQ(found({UserId{8}}), std::pair(uint64_t{0}, uint64_t{0}));
  EXPECT_EQ(found({}), std::pair(uint64_t{1}, uint64_t{1}));
}

TEST_F(TimelineCheckTest, ARepostIsExtraForWhoWantsNone) {
  for (const bool wanted : {true, false}) {
    std::vector<TimelineTruth::Part> parts(1, TimelineTruth::Part(readers_));
    parts[0].AddEdge(kChecked, kAuthor, wanted);
    RawTimeline timeline = Ready({40, 30});
    timeline.items[1].original = {PostId{1}, UserId{2}};
    for (const Item& item : timeline.items) parts[0].AddPost(item);
    const TimelineTruth truth(readers_, std::move(parts), false);
    TimelineCheck check(truth, kLeast, show_);
    check.Check(0, timeline, true);
    EXPECT_EQ(check.findings().extra, wanted ? 0u : 1u);
    timeline.items.pop_back();
    TimelineCheck without(truth, kLeast, show_);
    without.Check(0, timeline, true);
    EXPECT_EQ(without.findings().missing, wanted ? 1u : 0u);
  }
}

// World: author 8 is marked, and of its posts 15 and 35 are merged at read; 9 is another such, whom
// the reader does not follow.
class MergedAtReadTest : public TimelineCheckTest {
 protected:
  MergedAtReadTest() {
    std::vector<TimelineTruth::Part> parts(1, TimelineTruth::Part(readers_));
    parts[0].AddEdge(kChecked, kAuthor);
    parts[0].AddEdge(kChecked, UserId{8});
    for (const uint64_t post : {10, 20, 30, 40}) parts[0].AddPost(At(post));
    for (const uint64_t post : {15, 35}) parts[0].AddPost(At(post), false);
    parts[0].AddPost(At(25), false);
    parts[0].AddMarked(UserId{8}, announced_);
    parts[0].AddMarked(UserId{9}, true);
    merged_.emplace(readers_, std::move(parts), false);
  }

  Findings CheckMarked(const std::vector<uint64_t>& posts, std::vector<UserId> marked,
                       bool more = false, Floor floor = kNoFloor) {
    RawTimeline timeline = Ready(posts, floor);
    timeline.marks = {.authors = std::move(marked), .more = more};
    TimelineCheck check(*merged_, kLeast, show_);
    check.Check(0, timeline, true);
    return check.findings();
  }

  const bool announced_ = false;  // so that posts alone are judged
  std::optional<TimelineTruth> merged_;
};

TEST_F(MergedAtReadTest, APageShowsThemBesideTheTimelineOfWhomItMarks) {
  const auto found = CheckMarked({40, 30, 20, 10}, {UserId{8}});
  EXPECT_TRUE(found.good());
  EXPECT_EQ(found.items, 4u);
  EXPECT_EQ(found.merged, 2u);
  EXPECT_TRUE(CheckMarked({40, 30, 20, 10}, {}, true).good()) << "more than it names";
}

TEST_F(MergedAtReadTest, WithoutTheMarkTheyAreMissingFromThePage) {
  const auto found = CheckMarked({40, 30, 20, 10}, {});
  EXPECT_EQ(found.missing, 2u);
  ASSERT_THAT(found.differences, SizeIs(2));
  EXPECT_EQ(found.differences[0].item, At(35));
}

TEST_F(MergedAtReadTest, OneThatStandsInTheTimelineTooIsShownTwice) {
  const auto found = CheckMarked({40, 35, 30, 20, 10}, {UserId{8}});
  EXPECT_EQ(found.missing, 0u);
  EXPECT_EQ(found.extra, 1u);
}

TEST_F(MergedAtReadTest, OfAnAuthorWhoIsNotFollowedTheyAreShownForNothing) {
  const auto found = CheckMarked({40, 30, 20, 10}, {UserId{8}, UserId{9}});
  EXPECT_EQ(found.missing, 0u);
  EXPECT_EQ(found.extra, 2u) << "the post and the mark";
}

TEST_F(MergedAtReadTest, BelowTheFloorTheyAreNotJudged) {
  const auto found = CheckMarked({40, 30}, {UserId{8}}, false, 20);
  EXPECT_TRUE(found.good());
  EXPECT_EQ(found.merged, 1u);
}

TEST_F(TimelineCheckTest, SaysOfEachTimelineWhetherSomethingIsWrongWithIt) {
  TimelineCheck check(truth_, kLeast, show_);
  EXPECT_TRUE(check.Check(0, Ready({40, 30, 20, 10}), true));
  EXPECT_FALSE(check.Check(0, Ready({40, 30, 20}), true));
  EXPECT_FALSE(check.Check(0, Ready({40, 30, 20, 10}), false));
  EXPECT_TRUE(check.Check(0, Ready({40, 30, 20, 10}), true))
      << "what was wrong before is another's";
}

TEST_F(TimelineCheckTest, BelowItsFloorNothingIsPromisedAndNothingIsJudged) {
  for (const auto& posts : {std::vector<uint64_t>{40, 30}, {40, 30, 20}, {40, 30, 15}}) {
    const auto found = Check(Ready(posts, 20));
    EXPECT_TRUE(found.good());
    EXPECT_EQ(found.items, 2u);
    EXPECT_EQ(found.trimmed_timelines, 1u);
  }
}

TEST_F(TimelineCheckTest, WhatIsMissingIsNamedWithItsAuthorAndWhatIsTooMuch) {
  const auto found = Check(Ready({50, 40, 30, 10}), false);
  EXPECT_FALSE(found.good());
  EXPECT_EQ(found.not_indexed, 1u);
  EXPECT_EQ(found.missing, 1u);
  EXPECT_EQ(found.extra, 1u);
  ASSERT_THAT(found.differences, SizeIs(3));
  EXPECT_EQ(found.differences[0].kind, Kind::kNotIndexed);
  EXPECT_EQ(found.differences[1].kind, Kind::kMissing);
  EXPECT_EQ(found.differences[1].reader, kChecked);
  EXPECT_EQ(found.differences[1].item, At(20));
  EXPECT_EQ(found.differences[2].kind, Kind::kExtra);
  EXPECT_EQ(found.differences[2].item, At(50));
}

TEST_F(TimelineCheckTest, APostOfAnotherAuthorIsBothMissingAndExtra) {
  RawTimeline timeline = Ready({40, 30, 20, 10});
  timeline.items[1].author = UserId{8};
  const auto found = Check(timeline);
  EXPECT_EQ(found.missing, 1u);
  EXPECT_EQ(found.extra, 1u);
}

TEST_F(TimelineCheckTest, EqualTimesAreOrderedAsRedisOrdersThem) {
  std::vector<TimelineTruth::Part> parts(1, TimelineTruth::Part(readers_));
  parts[0].AddEdge(kChecked, kAuthor);
  parts[0].AddPost({PostId{9}, 5, kAuthor});
  parts[0].AddPost({PostId{10}, 5, kAuthor});
  const TimelineTruth truth(readers_, std::move(parts), false);
  RawTimeline timeline = Ready({});
  timeline.items = {{PostId{10}, 5, kAuthor}, {PostId{9}, 5, kAuthor}};
  TimelineCheck check(truth, kLeast, show_);
  check.Check(0, timeline, true);
  EXPECT_TRUE(check.findings().good());
}

TEST_F(TimelineCheckTest, ATimelineWithAFloorHoldsHalfAWindow) {
  const auto found = Check(Ready({40}, 30));
  EXPECT_FALSE(found.good());
  EXPECT_EQ(found.wrong_size, 1u);
  EXPECT_TRUE(Check(Ready({40, 30}, 20)).good());
}

TEST_F(TimelineCheckTest, OneUnderRebuildOrGoneIsSkipped) {
  RawTimeline building = Ready({99});
  building.state = TimelineState::kBuilding;
  RawTimeline gone = Ready({});
  gone.state = TimelineState::kNotLive;
  EXPECT_TRUE(Check(building).good());
  EXPECT_EQ(Check(building).building, 1u);
  EXPECT_TRUE(Check(gone).good());
  EXPECT_EQ(Check(gone).gone, 1u);
  EXPECT_EQ(Check(gone).timelines, 0u);
}

TEST_F(TimelineCheckTest, AKeyThatIsNoTimelineIsNotGood) {
  RawTimeline wrong = Ready({});
  wrong.problem = "WRONGTYPE";
  const auto found = Check(wrong);
  EXPECT_FALSE(found.good());
  EXPECT_EQ(found.malformed, 1u);
  EXPECT_EQ(found.timelines, 0u);
}

TEST_F(TimelineCheckTest, AllDifferencesAreCountedButOnlySomeNamed) {
  show_ = 3;
  const auto found = Check(Ready({60, 50}));
  EXPECT_EQ(found.missing, 4u);
  EXPECT_EQ(found.extra, 2u);
  EXPECT_THAT(found.differences, SizeIs(3));
}

}  // namespace
}  // namespace fanline::audit
