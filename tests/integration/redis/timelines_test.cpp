// What pushes and syncs do to timelines, by example.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "backends/redis/timeline_scanner.h"
#include "fanline/model/member.h"
#include "tests/integration/redis/timelines_world.h"

namespace fanline::redis::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST_F(RedisTimelines, ATimelineWhoseFloorStandsInTheMidstOfAMomentOutlivesARemoval) {
  const WindowLimits window;
  std::vector<Item> items = {At(2, 9), At(1, 8)};
  for (uint32_t i = 2; i < window.window; ++i) items.push_back(At(1'000 + i, 5));
  std::sort(items.begin(), items.end(), IsNewer);
  Open(kBob);
  ASSERT_TRUE(reader_.Finish(kBob, "t", items, At(0, 5).created_at).applied);
  EXPECT_EQ(Page(kBob).items, (std::vector{At(2, 9), At(1, 8)}));
  EXPECT_EQ(Push(kBob, {}, {At(1)}).removed, 1u);
  EXPECT_EQ(Page(kBob).items, std::vector{At(2, 9)});
}

TEST_F(RedisTimelines, AnItemOlderThanTheFloorIsTakenOutWhetherTheHighestFloorIsKnownOrNot) {
  Build(kBob, 300, At(0, 10).created_at);
  const std::string maxfloor = Name(keys_.MaxFloor(range_));
  EXPECT_EQ(console_.Run({"GET", maxfloor}), std::to_string(At(0, 10).created_at));
  for (const char* damage : {"", "?0", "rubbish"}) {
    console_.Run({"SET", maxfloor, damage});
    EXPECT_EQ(Push(kBob, {At(5000, 4)}).results, std::vector<int8_t>{0}) << damage;
  }
  console_.Run({"DEL", maxfloor});
  EXPECT_EQ(Push(kBob, {At(5000, 4)}).results, std::vector<int8_t>{0});
  console_.Run({"LPUSH", maxfloor, "a wrong type"});
  EXPECT_EQ(Push(kBob, {At(5000, 4)}).results, std::vector<int8_t>{0});
  EXPECT_EQ(Push(kBob, {At(5001, 500)}).results, std::vector<int8_t>{1});
}

TEST_F(RedisTimelines, EveryRaisedFloorRaisesTheHighest) {
  const auto maxfloor = [&] { return console_.Run({"GET", Name(keys_.MaxFloor(range_))}); };
  EXPECT_EQ(maxfloor(), "0");
  Build(kBob, 460);  // more than the window
  EXPECT_EQ(maxfloor(), std::to_string(At(0, 10).created_at));
  driver_.Do(ApplySync{0, range_, kEpoch, kBob, UserId{1}, {}, At(0, 20).created_at});
  EXPECT_EQ(maxfloor(), std::to_string(At(0, 20).created_at));
  uint64_t post = 10'000;
  while (Push(kBob, {At(post, static_cast<UnixMs>(post))}).trimmed == 0) ++post;
  EXPECT_EQ(maxfloor(), std::to_string(Page(kBob).floor));
  EXPECT_GT(Page(kBob).floor, At(0, 20).created_at);
}

TEST_F(RedisTimelines, IndexingARangeLearnsItsHighestFloor) {
  Build(kBob, 300, At(0, 10).created_at);
  const std::string maxfloor = Name(keys_.MaxFloor(range_));
  console_.Run({"DEL", maxfloor});
  driver_.Do(ResetRange{0, range_, kEpoch, ResetRange::Timelines::kIndex, AppliedPosition{1, 0}});
  EXPECT_EQ(console_.Run({"GET", maxfloor}), std::to_string(At(0, 10).created_at));
}

TEST_F(RedisTimelines, TimelinesStayListpacksUnderThousandsOfRandomWrites) {
  Build(kBob, 450);
  std::mt19937_64 random(42);
  uint64_t next = 100'000;
  for (int i = 0; i < 3000; ++i) {
    std::vector<Item> adds;
    for (uint64_t n = random() % (kMaxAddsPerWrite + 1); n > 0; --n) {
      adds.push_back(At(next++, 500 + static_cast<UnixMs>(random() % 5000)));
    }
    std::vector<Item> removes;
    for (uint64_t n = random() % 3; n > 0; --n) {
      removes.push_back(At(100'000 + random() % (next - 99'999)));
    }
    if (adds.empty() && removes.empty()) continue;
    Push(kBob, adds, removes);
    if (!Exists(kBob)) Build(kBob, 450);
  }
  EXPECT_LE(Card(kBob), options_.window.max_entries);
  EXPECT_EQ(console_.Run({"OBJECT", "ENCODING", Name(keys_.Timeline(kBob))}), "listpack");
}

// The bill that users pay. Ids of posts are as large as they come; a longer key than this reader's
// takes up to 32 bytes more.
TEST_F(RedisTimelines, AWindowOfPostsTakesTheMemoryThatIsPromised) {
  const UserId reader{8};
  const auto bytes = [&](uint64_t author) {
    std::vector<Item> items;
    for (uint64_t i = 0; i < 450; ++i) {
      const UnixMs at = At(0, 500).created_at - static_cast<UnixMs>(i);
      items.push_back({PostId{UINT64_MAX - 1 - i}, at, UserId{author}});
    }
    console_.Run({"DEL", Name(keys_.Timeline(reader))});
    Open(reader);
    EXPECT_TRUE(reader_.Finish(reader, "t", items, items.back().created_at - 1).applied);
    EXPECT_EQ(Page(reader).items.size(), 450u);
    return std::stoul(console_.Run({"MEMORY", "USAGE", Name(keys_.Timeline(reader))}));
  };
  EXPECT_LE(bytes((uint64_t{1} << 48) - 1), 12'400u);
  EXPECT_LE(bytes(UINT64_MAX - 1), 14'400u);
}

TEST_F(RedisTimelines, AWindowThatHoldsRepostsTakesTheMemoryThatIsPromised) {
  const UserId reader{8}, author{UINT64_MAX - 1};
  std::vector<Item> items;
  for (uint64_t i = 0; i < 450; ++i) {
    const UnixMs at = At(0, 500).created_at - static_cast<UnixMs>(i);
    items.push_back({PostId{UINT64_MAX - 1 - i}, at, author});
    if (i % 3 == 0) items.back().original = {PostId{UINT64_MAX - 2 - i}, author};
  }
  Open(reader);
  EXPECT_TRUE(reader_.Finish(reader, "t", items, items.back().created_at - 1).applied);
  EXPECT_EQ(Page(reader).items, items);
  EXPECT_LE(std::stoul(console_.Run({"MEMORY", "USAGE", Name(keys_.Timeline(reader))})), 16'500u);
}

// Nobody knows any more what the post was; another author's of the same id is not meant.
TEST_F(RedisTimelines, WhatAnAuthorHasInAPlaceIsRemovedWhateverItsKind) {
  const Item repost{PostId{2}, At(0, 2).created_at, kAnn, {PostId{99}, UserId{9}}};
  const Item other{PostId{2}, At(0, 2).created_at, UserId{UINT64_MAX - 1}};
  const Item removed{PostId{2}, 0, kAnn};
  const auto finish = [&] {
    std::vector<Item> items = {At(3, 3), repost, other, At(1, 1)};
    return reader_.Finish(kBob, "t", items).applied;
  };
  Open(kBob);
  ASSERT_TRUE(finish());
  EXPECT_EQ(Push(kBob, {}, {removed}).removed, 1u);
  EXPECT_EQ(Page(kBob).items.size(), 3u);
  EXPECT_EQ(Push(kBob, {}, {removed}).removed, 0u);
  console_.Run({"DEL", Name(keys_.Timeline(kBob))});
  Open(kBob);
  Push(kBob, {}, {removed});
  ASSERT_TRUE(finish()) << "the rebuild has read it before";
  EXPECT_EQ(Page(kBob).items.size(), 3u);
  EXPECT_THAT(Page(kBob).items, Not(Contains(repost)));
}

// Its row was lost and is written again, and what it names shows something else now.
TEST_F(RedisTimelines, ARepostHasOneSpellingInATimeline) {
  const Item before{PostId{2}, At(0, 2).created_at, kAnn, {PostId{99}, UserId{9}}};
  Item now = before;
  now.original.post = PostId{98};
  const Item beside{PostId{2}, before.created_at, UserId{UINT64_MAX - 1}, {PostId{99}, UserId{9}}};
  Open(kBob);
  ASSERT_TRUE(reader_.Finish(kBob, "t", {beside, before, At(1, 1)}).applied);
  EXPECT_THAT(Push(kBob, {now}).results, ElementsAre(1));
  EXPECT_THAT(Page(kBob).items, UnorderedElementsAre(now, beside, At(1, 1)));
  EXPECT_THAT(Push(kBob, {before, At(3, 3)}).results, ElementsAre(2));
  EXPECT_THAT(Page(kBob).items, UnorderedElementsAre(At(3, 3), before, beside, At(1, 1)));
  EXPECT_EQ(Push(kBob, {}, {now}).removed, 1u);
  EXPECT_THAT(Page(kBob).items, ElementsAre(At(3, 3), beside, At(1, 1)));

  console_.Run({"DEL", Name(keys_.Timeline(kBob))});
  Open(kBob);
  Push(kBob, {now});
  ASSERT_TRUE(reader_.Finish(kBob, "t", {beside, before}).applied) << "it read the row before";
  EXPECT_THAT(Page(kBob).items, UnorderedElementsAre(now, beside));
  console_.Run({"DEL", Name(keys_.Timeline(kBob))});
  Open(kBob);
  Push(kBob, {}, {now});
  ASSERT_TRUE(reader_.Finish(kBob, "t", {beside, before}).applied);
  EXPECT_THAT(Page(kBob).items, ElementsAre(beside));
}

// Most reposts that are deleted stand in no timeline any more: all members are looked at for those
// alone whose moment nobody knows.
TEST_F(RedisTimelines, ARepostIsLookedForInItsMoment) {
  const Item held{PostId{2}, At(0, 2).created_at, kAnn, {PostId{99}, UserId{9}}};
  Open(kBob);
  ASSERT_TRUE(reader_.Finish(kBob, "t", {held}).applied);
  Item named = held;
  named.original.post = PostId{98};
  named.created_at = At(0, 1).created_at;
  EXPECT_EQ(Push(kBob, {}, {named}).removed, 0u);
  named.created_at = 0;
  EXPECT_EQ(Push(kBob, {}, {named}).removed, 1u);
}

// A program that does not know a kind shows it to nobody, and a sync takes it out with the rest.
TEST_F(RedisTimelines, AnItemOfAnotherKindIsLeftAloneUntilItsAuthorGoes) {
  Build(kBob, 3);
  const std::string author(MemberText::OfAuthor(kAnn));
  for (const uint64_t post : {77, 78}) {
    const std::string other = std::string(MemberText::OfPlace(PostId{post})) +
                              std::string("\0\x22", 2) + author + "and more";
    console_.Run(
        {"ZADD", Name(keys_.Timeline(kBob)), std::to_string(ScoreOf(At(0, 2).created_at)), other});
  }
  EXPECT_EQ(Page(kBob).items, (std::vector{At(3, 3), At(2, 2), At(1, 1)}));
  EXPECT_EQ(Page(kBob, 2).items, std::vector{At(3, 3)}) << "complete above the other's moment";
  EXPECT_EQ(Page(kBob, 2).floor, At(0, 2).created_at);
  TimelineScanner scanner(options_);
  RawTimeline raw;
  bool indexed = false;
  ASSERT_TRUE(scanner.Read(kBob, &raw, &indexed).done());
  EXPECT_EQ(raw.problem, "");
  EXPECT_EQ(raw.items, (std::vector{At(3, 3), At(2, 2), At(1, 1)}));
  EXPECT_TRUE(driver_.Do(ApplySync{0, range_, kEpoch, kBob, UserId{Raw(kAnn) + 1}}).live);
  EXPECT_EQ(Card(kBob), 7u);
  EXPECT_TRUE(driver_.Do(ApplySync{0, range_, kEpoch, kBob, kAnn, {At(2, 2)}}).live);
  EXPECT_EQ(Page(kBob).items, std::vector{At(2, 2)});
  EXPECT_EQ(Card(kBob), 3u);
}

TEST_F(RedisTimelines, AKeyOfAWrongTypeFailsAlone) {
  const UserId other = OthersHere(1).front();
  Build(other, 1);
  console_.Run({"SET", Name(keys_.Timeline(kBob)), "not a timeline"});
  const BatchWritten written =
      driver_.Do(BatchOf(range_, kEpoch).Write(kBob, {At(77, 9)}).Write(other, {At(77, 9)}).Take());
  EXPECT_TRUE(written.status.done());
  EXPECT_EQ(written.results, (std::vector<int8_t>{BatchWritten::kKeyFailed, 1}));
  EXPECT_EQ(written.key_error.find(Name(keys_.Timeline(kBob)) + ": WRONGTYPE"), 0u)
      << written.key_error;
}

TEST_F(RedisTimelines, ASyncOfAWrongTypeNeverSucceedsUntilItIsDropped) {
  console_.Run({"SET", Name(keys_.Timeline(kBob)), "not a timeline"});
  EXPECT_TRUE(driver_.Do(ApplySync{0, range_, kEpoch, kBob, kAnn}).status.never());
  EXPECT_TRUE(driver_.Do(DropTimeline{0, range_, kEpoch, kBob}).status.done());
  EXPECT_TRUE(driver_.Do(ApplySync{0, range_, kEpoch, kBob, kAnn}).status.done());
}

TEST_F(RedisTimelines, DeliveryMarksGoAfterAnHour) {
  driver_.Do(MarkPart{0, kBob, PostId{9}, 7, 3, true});
  const long ttl = std::stol(console_.Run({"TTL", Name(keys_.Done(kBob, PostId{9}))}));
  EXPECT_GT(ttl, 3500);
  EXPECT_LE(ttl, 3600);
}

}  // namespace
}  // namespace fanline::redis::testing
