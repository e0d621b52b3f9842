// The rules of the timeline scripts by example, on a real Redis. The random counterpart is
// model_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "backends/redis/key_sweeper.h"
#include "backends/redis/keys.h"
#include "backends/redis/range_states.h"
#include "tests/integration/redis/redis_world.h"

namespace fanline::redis::testing {
namespace {

constexpr UnixMs kDawn = 1'700'000'000'000;
constexpr uint64_t kEpoch = 7;
constexpr UserId kBob{1001};

std::string Name(const Key& key) { return std::string(std::string_view(key)); }
Item At(uint64_t post, UnixMs minutes) { return {PostId{post}, kDawn + minutes * 60'000}; }

// One owner of Bob's range, one reader; Redis empty, the range taken over.
class RedisTimelines : public ::testing::Test {
 protected:
  RedisTimelines()
      : options_(OptionsFromEnvironment()),
        console_(options_),
        driver_(options_),
        reader_(options_),
        keys_(options_),
        range_(keys_.layout().RangeOf(kBob)) {
    console_.Run({"FLUSHALL"});
    driver_.WaitUntilConnected();
    TakeOver(kEpoch);
  }

  void TakeOver(uint64_t epoch) {
    const RangeClaimed claimed = driver_.Do(ClaimRange{0, range_, epoch});
    ASSERT_TRUE(claimed.status.done()) << claimed.status.message;
    ASSERT_EQ(claimed.refused_by, 0u);
    const ResetRange reset{0, range_, epoch, ResetRange::Timelines::kDrop, AppliedPosition{1, 0}};
    ASSERT_TRUE(driver_.Do(reset).status.done());
  }

  // A ready timeline of `count` items, one a minute, the oldest at minute 1; posts 1..count.
  void Build(UserId reader, uint32_t count, Floor floor = kNoFloor) {
    std::vector<Item> items;
    for (uint32_t i = count; i > 0; --i) items.push_back(At(i, i));
    RebuildBegun begun{};
    bool applied = false;
    ASSERT_TRUE(reader_.Begin(reader, "t", 1, &begun).done());
    ASSERT_EQ(begun, RebuildBegun::kCreated);
    ASSERT_TRUE(reader_.Finish(reader, "t", 1, items, floor, {}, &applied).done());
    ASSERT_TRUE(applied);
  }
  void Open(UserId reader, const std::string& token) {
    RebuildBegun begun{};
    ASSERT_TRUE(reader_.Begin(reader, token, 1, &begun).done());
    ASSERT_EQ(begun, RebuildBegun::kCreated);
  }
  bool Close(UserId reader, const std::string& token, std::vector<Item> items) {
    bool applied = false;
    std::sort(items.begin(), items.end(), IsNewer);
    EXPECT_TRUE(reader_.Finish(reader, token, 1, items, kNoFloor, {}, &applied).done());
    return applied;
  }

  BatchWritten Push(UserId reader, std::vector<Item> adds, std::vector<PostId> removes = {}) {
    return driver_.Do(BatchOf(range_, kEpoch).Write(reader, adds, removes).Take());
  }
  ReaderTimelines::Page Page(UserId reader, uint32_t limit = 1000) {
    ReaderTimelines::Page page;
    EXPECT_TRUE(reader_.Read(reader, std::nullopt, limit, &page).done());
    return page;
  }
  std::string Members(UserId reader) {
    return console_.Run({"ZRANGE", Name(keys_.Timeline(reader)), "0", "-1"});
  }
  size_t Card(UserId reader) {
    return std::stoul(console_.Run({"ZCARD", Name(keys_.Timeline(reader))}));
  }
  bool Exists(UserId reader) {
    return console_.Run({"EXISTS", Name(keys_.Timeline(reader))}) == "1";
  }
  bool IsListed(UserId reader) {
    return console_.Run({"SISMEMBER", Name(keys_.Live(keys_.layout().RangeOf(reader))),
                         ToString(reader)}) == "1";
  }
  // So that the scripts, not the index, meet timelines that are gone.
  void ForgetIndex() { console_.Run({"SREM", Name(keys_.Live(range_)), "#complete"}); }

  const Options options_;
  Console console_;
  Driver driver_;
  RedisReaderTimelines reader_;
  const Keys keys_;
  const Range range_;
};

// ---- pushes ---------------------------------------------------------------------------------

TEST_F(RedisTimelines, ARebuildKeepsItemsOfOneMomentTogetherWhileThereIsRoom) {
  const WindowLimits window;
  for (const uint32_t many : {window.window + 1, window.window + window.spare()}) {
    const UserId reader = UserId{many};
    std::vector<Item> items;
    for (uint32_t i = 0; i < many; ++i) items.push_back(At(1'000 + i, 5));
    items.push_back(At(1, 0));
    Open(reader, "t");
    ASSERT_TRUE(Close(reader, "t", items));
    const auto page = Page(reader);
    EXPECT_EQ(page.items.size(), many);
    EXPECT_EQ(page.floor, items.back().created_at);
    EXPECT_LE(Card(reader), window.max_entries - kMaxAddsPerWrite);
  }
}

// As Pull reads them: of more than the spare the window's share, the floor in their midst.
TEST_F(RedisTimelines, ATimelineWhoseFloorStandsInTheMidstOfAMomentOutlivesARemoval) {
  const WindowLimits window;
  std::vector<Item> items = {At(2, 9), At(1, 8)};
  for (uint32_t i = 2; i < window.window; ++i) items.push_back(At(1'000 + i, 5));
  std::sort(items.begin(), items.end(), IsNewer);
  bool applied = false;
  Open(kBob, "t");
  ASSERT_TRUE(reader_.Finish(kBob, "t", 1, items, At(0, 5).created_at, {}, &applied).done() &&
              applied);
  EXPECT_EQ(Page(kBob).items, (std::vector{At(2, 9), At(1, 8)}));
  EXPECT_EQ(Push(kBob, {}, {PostId{1}}).removed, 1u);
  EXPECT_EQ(Page(kBob).items, std::vector{At(2, 9)});
}

TEST_F(RedisTimelines, APushReachesALiveTimelineOnce) {
  Build(kBob, 2);
  EXPECT_EQ(Push(kBob, {At(77, 9)}).results, std::vector<int8_t>{1});
  EXPECT_EQ(Push(kBob, {At(77, 9)}).results, std::vector<int8_t>{0});
  EXPECT_EQ(Page(kBob).items, (std::vector{At(77, 9), At(2, 2), At(1, 1)}));
}

TEST_F(RedisTimelines, APushToADeadKeyCreatesNothingAndCleansTheIndex) {
  ForgetIndex();
  console_.Run({"SADD", Name(keys_.Live(range_)), ToString(kBob)});
  const BatchWritten written = Push(kBob, {At(77, 9)});
  EXPECT_EQ(written.results, std::vector<int8_t>{BatchWritten::kNotLive});
  EXPECT_EQ(written.pruned, 0u);
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
}

TEST_F(RedisTimelines, ARemovalMeetingADeadKeyCreatesNothing) {
  ForgetIndex();
  EXPECT_EQ(Push(kBob, {}, {PostId{5}}).results, std::vector<int8_t>{BatchWritten::kNotLive});
  EXPECT_FALSE(Exists(kBob));
}

TEST_F(RedisTimelines, AnIndexThatIsCompleteSparesTheScriptTheDead) {
  EXPECT_EQ(Push(kBob, {At(77, 9)}).pruned, 1u);
  Build(kBob, 1);  // rebuilding lists the reader first
  EXPECT_EQ(Push(kBob, {At(77, 9)}).pruned, 0u);
}

TEST_F(RedisTimelines, AnItemOlderThanTheFloorIsTakenOutAgain) {
  Build(kBob, 300, At(0, 10).created_at);
  EXPECT_EQ(Push(kBob, {At(5000, 4)}).results, std::vector<int8_t>{0});
  EXPECT_EQ(console_.Run({"ZSCORE", Name(keys_.Timeline(kBob)), "5000"}), "(nil)");
  EXPECT_EQ(Push(kBob, {At(5001, 11)}).results, std::vector<int8_t>{1});
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
  driver_.Do(ApplySync{0, range_, kEpoch, kBob, {}, {}, At(0, 20).created_at});
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

TEST_F(RedisTimelines, ATrimKeepsTheWindowAndRaisesTheFloorToTheNewestItemCut) {
  Build(kBob, 450);
  const uint32_t limit = options_.window.trim_above();
  uint64_t trimmed = 0;
  uint32_t pushed = 0;
  while (trimmed == 0 && pushed < 100) {
    trimmed = Push(kBob, {At(10'000 + pushed, 500 + pushed)}).trimmed;
    ++pushed;
  }
  EXPECT_EQ(pushed, limit - 452 + 1);
  EXPECT_EQ(Card(kBob), 452u);
  const auto page = Page(kBob);
  EXPECT_EQ(page.items.size(), 450u);
  EXPECT_EQ(page.floor, At(0, pushed).created_at);  // the items of minutes 1..pushed are gone
  EXPECT_EQ(page.items.back(), At(pushed + 1, pushed + 1));
  EXPECT_TRUE(page.reached_floor);
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
    std::vector<PostId> removes;
    for (uint64_t n = random() % 3; n > 0; --n) {
      removes.push_back(PostId{100'000 + random() % (next - 99'999)});
    }
    if (adds.empty() && removes.empty()) continue;
    Push(kBob, adds, removes);
    if (!Exists(kBob)) Build(kBob, 450);
  }
  EXPECT_LE(Card(kBob), options_.window.max_entries);
  EXPECT_EQ(console_.Run({"OBJECT", "ENCODING", Name(keys_.Timeline(kBob))}), "listpack");
}

TEST_F(RedisTimelines, ATimelineThatFallsShortIsDropped) {
  Build(kBob, 226, At(0, 0).created_at);
  EXPECT_EQ(Push(kBob, {}, {PostId{1}}).underfilled, 0u);  // 225 left: half the window
  const BatchWritten written = Push(kBob, {}, {PostId{2}});
  EXPECT_EQ(written.underfilled, 1u);
  EXPECT_EQ(written.removed, 1u);
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
}

TEST_F(RedisTimelines, ATimelineWithNothingOlderNeverFallsShort) {
  Build(kBob, 2);
  EXPECT_EQ(Push(kBob, {}, {PostId{1}, PostId{2}}).underfilled, 0u);
  EXPECT_EQ(Page(kBob).state, TimelineState::kReady);
  EXPECT_TRUE(Page(kBob).items.empty());
}

TEST_F(RedisTimelines, AKeyOfAWrongTypeFailsAlone) {
  UserId other{};
  for (uint64_t raw = 2000; Raw(other) == 0; ++raw) {
    if (keys_.layout().RangeOf(UserId{raw}) == range_) other = UserId{raw};
  }
  Build(other, 1);
  ForgetIndex();
  console_.Run({"SET", Name(keys_.Timeline(kBob)), "not a timeline"});
  const BatchWritten written =
      driver_.Do(BatchOf(range_, kEpoch).Write(kBob, {At(77, 9)}).Write(other, {At(77, 9)}).Take());
  EXPECT_TRUE(written.status.done());
  EXPECT_EQ(written.results, (std::vector<int8_t>{BatchWritten::kKeyFailed, 1}));
  EXPECT_NE(written.key_error.find("WRONGTYPE"), std::string::npos) << written.key_error;
}

TEST_F(RedisTimelines, AReadOfAWrongTypeNeverSucceedsUntilItIsDropped) {
  console_.Run({"SET", Name(keys_.Timeline(kBob)), "not a timeline"});
  EXPECT_TRUE(driver_.Do(ReadTimeline{0, range_, kEpoch, kBob}).status.never());
  EXPECT_TRUE(driver_.Do(DropTimeline{0, range_, kEpoch, kBob}).status.done());
  EXPECT_TRUE(driver_.Do(ReadTimeline{0, range_, kEpoch, kBob}).status.done());
}

// ---- a Redis at its maxmemory -----------------------------------------------------------------

class FullRedis : public RedisTimelines {
 protected:
  ~FullRedis() override { MakeRoom(); }
  void Fill() { console_.Run({"CONFIG", "SET", "maxmemory", "1mb"}); }
  void MakeRoom() { console_.Run({"CONFIG", "SET", "maxmemory", "0"}); }
};

TEST_F(FullRedis, ATimelineThatCannotTakeAPostIsDroppedSoThatItsReaderRebuildsIt) {
  Build(kBob, 3);
  Fill();
  const BatchWritten added = Push(kBob, {At(77, 9)});
  MakeRoom();
  EXPECT_TRUE(added.status.done()) << added.status.message;
  EXPECT_EQ(added.results, std::vector<int8_t>{BatchWritten::kNotLive});
  EXPECT_EQ(added.full, 1u);
  EXPECT_NE(added.key_error.find("OOM"), std::string::npos) << added.key_error;
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
}

TEST_F(FullRedis, ARebuildThatMissedAPushStartsAgain) {
  Open(kBob, "a");
  Fill();
  EXPECT_EQ(Push(kBob, {At(77, 9)}).full, 1u);
  MakeRoom();
  EXPECT_FALSE(Close(kBob, "a", {At(1, 1)}));
  EXPECT_FALSE(Exists(kBob));
}

TEST_F(FullRedis, NoTimelineOfABatchClaimsMoreThanItHas) {
  std::vector<UserId> readers;
  for (uint64_t raw = 2000; readers.size() < 20; ++raw) {
    if (keys_.layout().RangeOf(UserId{raw}) == range_) readers.push_back(UserId{raw});
  }
  BatchOf batch(range_, kEpoch);
  for (UserId reader : readers) {
    Build(reader, 3);
    batch.Write(reader, {At(77, 9), At(78, 9)}, {PostId{2}});
  }
  const TimelineBatch adds_only = [&] {
    BatchOf later(range_, kEpoch);
    for (UserId reader : readers) later.Write(reader, {At(79, 10)});
    return later.Take();
  }();
  Fill();
  const BatchWritten both = driver_.Do(batch.Take());
  const BatchWritten written = driver_.Do(adds_only);
  MakeRoom();
  EXPECT_TRUE(both.status.done());
  EXPECT_TRUE(written.status.done());
  EXPECT_GE(written.full, 1u);
  for (size_t i = 0; i < readers.size(); ++i) {
    if (!Exists(readers[i])) continue;
    EXPECT_EQ(written.results[i], 1);
    EXPECT_EQ(Page(readers[i]).items,
              (std::vector{At(79, 10), At(77, 9), At(78, 9), At(3, 3), At(1, 1)}));
  }
}

TEST_F(FullRedis, RemovalsStillWork) {
  Build(kBob, 3);
  Fill();
  EXPECT_EQ(Push(kBob, {}, {PostId{2}}).removed, 1u);
  EXPECT_EQ(Page(kBob).items, (std::vector{At(3, 3), At(1, 1)}));
}

// A removal that a rebuild must learn of is recorded, full or not.
TEST_F(FullRedis, ARemovalMeetingARebuildIsNotForgotten) {
  Open(kBob, "a");
  Fill();
  Push(kBob, {}, {PostId{2}});
  MakeRoom();
  if (Close(kBob, "a", {At(2, 2), At(1, 1)})) {
    EXPECT_EQ(Page(kBob).items, std::vector{At(1, 1)});
  }
}

TEST_F(FullRedis, ASyncThatCannotAddDropsTheTimeline) {
  const std::vector<ApplySync> syncs = {
      {0, range_, kEpoch, kBob, {}, {At(77, 9)}, {}},
      {0, range_, kEpoch, kBob, {PostId{2}}, {At(77, 9)}, {}},
      {0, range_, kEpoch, kBob, {}, {}, At(0, 2).created_at},
  };
  for (const ApplySync& sync : syncs) {
    Build(kBob, 3);
    Fill();
    const SyncApplied applied = driver_.Do(sync);
    MakeRoom();
    EXPECT_TRUE(applied.status.done()) << applied.status.message;
    EXPECT_FALSE(applied.live);
    EXPECT_TRUE(applied.full);
    EXPECT_FALSE(Exists(kBob));
    EXPECT_FALSE(IsListed(kBob));
  }
}

// Otherwise a Redis full of timelines would only grow.
TEST_F(FullRedis, NoTimelineIsMade) {
  Fill();
  RebuildBegun begun{};
  EXPECT_TRUE(reader_.Begin(kBob, "a", 1, &begun).later());
  MakeRoom();
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
}

TEST_F(FullRedis, ARebuildThatCannotBeWrittenLeavesNoTimeline) {
  Open(kBob, "a");
  Fill();
  bool applied = false;
  EXPECT_TRUE(reader_.Finish(kBob, "a", 1, {At(1, 1)}, At(0, 0).created_at, {}, &applied).later());
  MakeRoom();
  EXPECT_FALSE(Exists(kBob));
}

TEST_F(FullRedis, RangesAreTakenOverAndPositionsSaved) {
  Build(kBob, 3);
  Fill();
  TakeOver(kEpoch + 1);
  EXPECT_FALSE(Exists(kBob));
  const PositionSaved saved = driver_.Do(SavePosition{0, range_, kEpoch + 1, {1, 0}, {1, 9}});
  EXPECT_TRUE(saved.status.done()) << saved.status.message;
  EXPECT_FALSE(saved.mismatch);
}

// After a failover to a replica that was behind, `own:` is old, though the session goes on.
TEST_F(FullRedis, AnEpochThatFellBehindIsRaisedByWhateverIsWrittenFirst) {
  const std::string own = Name(keys_.Own(range_));
  const auto fall_behind = [&] { console_.Run({"SET", own, std::to_string(kEpoch - 1)}); };
  const auto raised = [&] { return console_.Run({"GET", own}) == std::to_string(kEpoch); };
  Build(kBob, 3);
  fall_behind();
  Fill();
  const BatchWritten written = Push(kBob, {At(77, 9)}, {PostId{2}});
  EXPECT_TRUE(written.status.done()) << written.status.message;
  EXPECT_TRUE(raised());
  MakeRoom();
  if (Exists(kBob)) {
    EXPECT_EQ(Page(kBob).items, (std::vector{At(77, 9), At(3, 3), At(1, 1)}));
  }
  fall_behind();
  Fill();
  const PositionSaved saved = driver_.Do(SavePosition{0, range_, kEpoch, {1, 0}, {1, 9}});
  EXPECT_TRUE(saved.status.done()) << saved.status.message;
  EXPECT_TRUE(raised());
}

// A Redis that takes no write at all must not be taken for one that lost a key: the hint waits.
TEST_F(RedisTimelines, ARefusalOfEveryWriteIsAnsweredLater) {
  Build(kBob, 3);
  console_.Run({"CONFIG", "SET", "min-replicas-to-write", "1"});
  const BatchWritten added = Push(kBob, {At(77, 9)});
  console_.Run({"CONFIG", "SET", "min-replicas-to-write", "0"});
  EXPECT_TRUE(added.status.later());
  EXPECT_TRUE(Exists(kBob));
}

TEST_F(RedisTimelines, ALargeBatchIsCutIntoCallsAndAnsweredInOrder) {
  BatchOf batch(range_, kEpoch);
  std::vector<int8_t> expected;
  size_t readers = 0;
  for (uint64_t raw = 1; readers < 1800; ++raw) {
    const UserId reader{raw};
    if (keys_.layout().RangeOf(reader) != range_) continue;
    const bool live = ++readers % 3 == 0;
    if (live) Build(reader, 1);
    batch.Write(reader, {At(77, 9)});
    expected.push_back(live ? 1 : BatchWritten::kNotLive);
  }
  TimelineBatch request = batch.Take();
  std::vector<UserId> order;
  for (const auto& write : request.writes) order.push_back(write.reader);
  const BatchWritten written = driver_.Do(request);
  EXPECT_EQ(written.results, expected);
  EXPECT_EQ(written.pruned, 1200u);
}

TEST_F(RedisTimelines, WhereNearlyAllAreLiveTheIndexIsNotAskedUntilManyAreNot) {
  const auto push_to_all = [this](uint64_t from) {
    BatchOf batch(range_, kEpoch);
    for (uint64_t raw = from, readers = 0; readers < 500; ++raw) {
      if (keys_.layout().RangeOf(UserId{raw}) != range_) continue;
      ++readers;
      batch.Write(UserId{raw}, {At(77, 9)});
    }
    return batch.Take();
  };
  TimelineBatch live = push_to_all(1'000'000);
  for (const auto& write : live.writes) Build(write.reader, 1);
  for (int push = 0; push < 15; ++push) driver_.Do(live);

  const BatchWritten unasked = Push(kBob, {At(77, 9)});
  EXPECT_EQ(unasked.results, std::vector<int8_t>{BatchWritten::kNotLive});
  EXPECT_EQ(unasked.pruned, 0u);
  EXPECT_FALSE(Exists(kBob));

  driver_.Do(push_to_all(2'000'000));
  EXPECT_EQ(Push(kBob, {At(77, 9)}).pruned, 1u);
}

// ---- rebuilding -----------------------------------------------------------------------------

TEST_F(RedisTimelines, ABuildingTimelineIsNeverServed) {
  Open(kBob, "a");
  Push(kBob, {At(77, 9)});
  EXPECT_EQ(Page(kBob).state, TimelineState::kBuilding);
  EXPECT_TRUE(Page(kBob).items.empty());
  EXPECT_EQ(driver_.Do(ReadTimeline{0, range_, kEpoch, kBob}).state, TimelineState::kBuilding);
}

TEST_F(RedisTimelines, WhatIsPushedAndRemovedDuringARebuildIsInItsResult) {
  Open(kBob, "a");
  EXPECT_EQ(Push(kBob, {At(77, 9)}).results, std::vector<int8_t>{1});
  Push(kBob, {}, {PostId{2}});  // read before, deleted meanwhile
  Push(kBob, {}, {PostId{3}});  // hidden ...
  Push(kBob, {At(3, 3)});       // ... and shown again
  EXPECT_TRUE(Close(kBob, "a", {At(3, 3), At(2, 2), At(1, 1)}));
  EXPECT_EQ(Page(kBob).items, (std::vector{At(77, 9), At(3, 3), At(1, 1)}));
  EXPECT_EQ(Members(kBob), "T 77 3 1 F");
}

TEST_F(RedisTimelines, ARebuildWhoseTokenIsGoneChangesNothing) {
  Open(kBob, "a");
  driver_.Do(DropTimeline{0, range_, kEpoch, kBob});
  EXPECT_FALSE(Close(kBob, "a", {At(1, 1)}));
  EXPECT_FALSE(Exists(kBob));
  Open(kBob, "b");
  EXPECT_FALSE(Close(kBob, "a", {At(1, 1)}));
  EXPECT_TRUE(Close(kBob, "b", {At(2, 2)}));
  EXPECT_FALSE(Close(kBob, "b", {At(3, 3)}));  // once only
  EXPECT_EQ(Page(kBob).items, std::vector{At(2, 2)});
}

TEST_F(RedisTimelines, ARebuildTakesNothingFromAKeyThatWasNoTimeline) {
  console_.Run({"ZADD", Name(keys_.Timeline(kBob)), "-7", "5000"});
  Open(kBob, "a");
  EXPECT_TRUE(Close(kBob, "a", {At(1, 1)}));
  EXPECT_EQ(Page(kBob).items, std::vector{At(1, 1)});
}

// Nobody is ever pushed to whom somebody made up, so no push finds out that their timelines went.
TEST_F(RedisTimelines, ReadersWhoseTimelinesWentDoNotFillTheIndex) {
  Build(kBob, 1);
  uint32_t strangers = 0;
  for (uint64_t id = 500'000; strangers < 300; ++id) {
    const UserId stranger{id};
    if (keys_.layout().RangeOf(stranger) != range_) continue;
    ++strangers;
    Open(stranger, "t");
    EXPECT_TRUE(IsListed(stranger));
    console_.Run({"DEL", Name(keys_.Timeline(stranger))});  // as its time to live ends
  }
  EXPECT_LT(std::stoul(console_.Run({"SCARD", Name(keys_.Live(range_))})), 30u);
  EXPECT_TRUE(IsListed(kBob));
  EXPECT_EQ(console_.Run({"SISMEMBER", Name(keys_.Live(range_)), "#complete"}), "1");
}

TEST_F(RedisTimelines, ARebuildThatWasGivenUpMakesRoomForTheNext) {
  Open(kBob, "a");
  EXPECT_TRUE(reader_.Abandon(kBob, "b").done());
  EXPECT_TRUE(Exists(kBob)) << "it is another's";
  EXPECT_TRUE(reader_.Abandon(kBob, "a").done());
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
  Build(kBob, 1);
  EXPECT_TRUE(reader_.Abandon(kBob, "t").done());
  EXPECT_EQ(Page(kBob).items.size(), 1u) << "it was finished";
}

TEST_F(RedisTimelines, TheSecondRebuildOfAReaderIsToldOfTheFirst) {
  RebuildBegun begun{};
  Open(kBob, "a");
  EXPECT_TRUE(reader_.Begin(kBob, "b", 1, &begun).done());
  EXPECT_EQ(begun, RebuildBegun::kBusy);
  Close(kBob, "a", {});
  EXPECT_TRUE(reader_.Begin(kBob, "b", 1, &begun).done());
  EXPECT_EQ(begun, RebuildBegun::kAlreadyReady);
}

TEST_F(RedisTimelines, TooManyRemovalsEndARebuild) {
  Open(kBob, "a");
  std::vector<PostId> removes;
  for (uint64_t post = 1; post <= 600; ++post) removes.push_back(PostId{post});
  Push(kBob, {}, removes);
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(Close(kBob, "a", {At(1, 1)}));
}

TEST_F(RedisTimelines, ARebuildHoldsAsManyRemovalsAsThereIsRoomFor) {
  Open(kBob, "a");
  const uint64_t room = options_.window.trim_above() - Card(kBob);
  for (uint64_t post = 1; post <= room; ++post) Push(kBob, {}, {PostId{post}});
  EXPECT_EQ(Card(kBob), options_.window.trim_above());
  Push(kBob, {}, {PostId{room + 1}});
  EXPECT_FALSE(Exists(kBob));
}

TEST_F(RedisTimelines, TooManyPushesEndARebuild) {
  Open(kBob, "a");
  for (uint64_t post = 1; post < 600 && Exists(kBob); ++post) {
    EXPECT_LE(Card(kBob), options_.window.trim_above());
    Push(kBob, {At(post, static_cast<UnixMs>(post))});
  }
  EXPECT_FALSE(Exists(kBob));
}

TEST_F(RedisTimelines, ARebuildOfMoreThanTheWindowRaisesTheFloor) {
  Build(kBob, 600);
  const auto page = Page(kBob);
  EXPECT_EQ(page.items.size(), 450u);
  EXPECT_EQ(page.floor, At(0, 150).created_at);
  EXPECT_EQ(console_.Run({"OBJECT", "ENCODING", Name(keys_.Timeline(kBob))}), "listpack");
}

TEST_F(RedisTimelines, WhatIsPushedDuringALongRebuildHasItsPlaceInTheOrder) {
  Open(kBob, "a");
  Push(kBob, {At(5000, 1000)});
  Push(kBob, {At(5001, 300)});
  std::vector<Item> items;
  for (uint32_t i = 600; i > 0; --i) items.push_back(At(i, i));
  EXPECT_TRUE(Close(kBob, "a", items));
  const auto page = Page(kBob);
  EXPECT_EQ(page.items.size(), 450u);
  EXPECT_EQ(page.items.front(), At(5000, 1000));
  EXPECT_THAT(page.items, ::testing::Contains(At(5001, 300)));
  EXPECT_EQ(page.floor, At(0, 152).created_at);
}

// An installation of before, whose ACL allows what its scripts needed.
TEST_F(RedisTimelines, ARebuildThatMayNotCopyIsCompactAllTheSame) {
  ASSERT_EQ(console_.Run({"ACL", "SETUSER", "default", "-zunionstore"}), "OK");
  Build(kBob, 600);
  EXPECT_EQ(console_.Run({"ACL", "SETUSER", "default", "+zunionstore"}), "OK");
  EXPECT_EQ(Page(kBob).items.size(), 450u);
  EXPECT_EQ(console_.Run({"OBJECT", "ENCODING", Name(keys_.Timeline(kBob))}), "listpack");
}

TEST_F(RedisTimelines, KeysLiveAsLongAsPromised) {
  Open(kBob, "a");
  EXPECT_LE(std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})), 60'000);
  EXPECT_GT(std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})), 50'000);
  Close(kBob, "a", {At(1, 1)});
  EXPECT_GT(std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})), 60'000);
  console_.Run({"PEXPIRE", Name(keys_.Timeline(kBob)), "30000"});
  Page(kBob);  // reading refreshes it
  EXPECT_GT(std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})), 60'000);
  EXPECT_EQ(console_.Run({"TTL", Name(keys_.Live(range_))}), "-1");
  EXPECT_EQ(console_.Run({"TTL", Name(keys_.Own(range_))}), "-1");
}

TEST_F(RedisTimelines, ReadingRefreshesATimelineAtMostOnceAMinute) {
  Build(kBob, 1);
  const auto ttl = [&] { return std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})); };
  const auto lives = [&](std::chrono::milliseconds time) {
    console_.Run({"PEXPIRE", Name(keys_.Timeline(kBob)), std::to_string(time.count())});
    Page(kBob);
    return ttl();
  };
  const auto full = options_.timeline_ttl;
  EXPECT_LE(lives(full - std::chrono::seconds(50)), (full - std::chrono::seconds(50)).count());
  EXPECT_GT(lives(full - std::chrono::seconds(70)), (full - std::chrono::seconds(60)).count());
}

TEST_F(RedisTimelines, ATimelineOfASmallTtlIsRefreshedHalfWay) {
  Options brief = options_;
  brief.timeline_ttl = std::chrono::minutes(1);
  RedisReaderTimelines reader(brief);
  Build(kBob, 1);
  console_.Run({"PEXPIRE", Name(keys_.Timeline(kBob)), "20000"});
  ReaderTimelines::Page page;
  ASSERT_TRUE(reader.Read(kBob, std::nullopt, 1, &page).done());
  EXPECT_GT(std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})), 30'000);
}

// Its sample is no item.
TEST_F(RedisTimelines, AnEmptyTimelineOfASampledReaderGoesAsSoon) {
  RebuildBegun begun{};
  bool applied = false;
  ASSERT_TRUE(reader_.Begin(kBob, "t", 8, &begun).done());
  ASSERT_TRUE(reader_.Finish(kBob, "t", 8, {}, kNoFloor, {}, &applied).done() && applied);
  console_.Run({"PEXPIRE", Name(keys_.Timeline(kBob)), "30000"});
  EXPECT_EQ(Page(kBob).state, TimelineState::kReady);
  EXPECT_LE(std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})), 30'000);
}

TEST_F(RedisTimelines, AnEmptyTimelineGoesSoonHoweverOftenItIsReadUntilSomethingComes) {
  Build(kBob, 0);
  const auto ttl = [&] { return std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})); };
  const long soon = std::chrono::milliseconds(options_.empty_ttl).count();
  EXPECT_LE(ttl(), soon);
  console_.Run({"PEXPIRE", Name(keys_.Timeline(kBob)), "30000"});
  EXPECT_EQ(Page(kBob).state, TimelineState::kReady);
  EXPECT_LE(ttl(), 30'000);
  Push(kBob, {At(77, 9)});
  EXPECT_EQ(Page(kBob).items.size(), 1u);
  EXPECT_GT(ttl(), soon);
}

// ---- reading --------------------------------------------------------------------------------

TEST_F(RedisTimelines, PagesFollowEachOtherWithoutOverlapOrGapAtEqualTimes) {
  Open(kBob, "a");
  std::vector<Item> items;
  for (uint64_t post = 1; post <= 30; ++post) items.push_back(At(post, post <= 20 ? 5 : 6));
  Close(kBob, "a", items);
  std::sort(items.begin(), items.end(), IsNewer);
  std::vector<Item> walked;
  std::optional<Position> after;
  ReaderTimelines::Page page;
  do {
    ASSERT_TRUE(reader_.Read(kBob, after, 7, &page).done());
    walked.insert(walked.end(), page.items.begin(), page.items.end());
    if (!page.items.empty()) after = Position{page.items.back().created_at, page.items.back().post};
  } while (!page.reached_floor && walked.size() < 100);
  EXPECT_EQ(walked, items);
}

TEST_F(RedisTimelines, APlaceThatIsGoneOrBelowTheFloorIsStillAPlace) {
  Build(kBob, 300, At(0, 100).created_at);
  ReaderTimelines::Page page;
  ASSERT_TRUE(reader_.Read(kBob, Position{At(0, 150).created_at, PostId{999}}, 2, &page).done());
  EXPECT_EQ(page.items, (std::vector{At(149, 149), At(148, 148)}));
  ASSERT_TRUE(reader_.Read(kBob, Position{At(0, 50).created_at, PostId{50}}, 2, &page).done());
  EXPECT_TRUE(page.items.empty());
  EXPECT_TRUE(page.reached_floor);
}

// ---- syncs ----------------------------------------------------------------------------------

TEST_F(RedisTimelines, ASyncAddsWhatIsNewerThanTheFloorWithinTheBound) {
  Build(kBob, 440, At(0, 100).created_at);  // items 101..440
  ApplySync sync{0, range_, kEpoch, kBob, {PostId{440}}, {}, {}};
  for (uint64_t i = 450; i > 0; --i) sync.adds.push_back(At(50'000 + i, static_cast<UnixMs>(i)));
  EXPECT_TRUE(driver_.Do(sync).live);
  const auto page = Page(kBob);
  EXPECT_LE(Card(kBob), options_.window.max_entries);
  EXPECT_EQ(console_.Run({"OBJECT", "ENCODING", Name(keys_.Timeline(kBob))}), "listpack");
  EXPECT_GE(page.items.size(), 440u);
  EXPECT_GT(page.floor, At(0, 100).created_at);
  for (const Item& item : page.items) EXPECT_GT(item.created_at, page.floor);
  EXPECT_EQ(page.items.front(), At(50'450, 450));
}

TEST_F(RedisTimelines, ASyncAddsNothingBehindTheFloor) {
  Build(kBob, 300, At(0, 100).created_at);  // items 101..300
  EXPECT_TRUE(driver_.Do(ApplySync{0, range_, kEpoch, kBob, {}, {At(900, 50)}, {}}).live);
  EXPECT_EQ(console_.Run({"ZRANGE", Name(keys_.Timeline(kBob)), "-1", "-1"}), "F");
}

TEST_F(RedisTimelines, ASyncRaisesTheFloorItIsTold) {
  Build(kBob, 400);
  ApplySync sync{0, range_, kEpoch, kBob, {}, {}, At(0, 100).created_at};
  EXPECT_TRUE(driver_.Do(sync).live);
  EXPECT_EQ(Page(kBob).floor, At(0, 100).created_at);
  EXPECT_EQ(Page(kBob).items.back(), At(101, 101));
  sync.floor_at_least = At(0, 50).created_at;  // never down
  driver_.Do(sync);
  EXPECT_EQ(Page(kBob).floor, At(0, 100).created_at);
  sync.floor_at_least = At(0, 300).created_at;  // too little is left
  driver_.Do(sync);
  EXPECT_FALSE(Exists(kBob));
}

TEST_F(RedisTimelines, ASyncThatMeetsABuildingTimelineDeletesIt) {
  Open(kBob, "a");
  EXPECT_FALSE(driver_.Do(ApplySync{0, range_, kEpoch, kBob, {}, {At(1, 1)}, {}}).live);
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(Close(kBob, "a", {}));
}

// ---- delivery marks -------------------------------------------------------------------------

class DeliveryMarking : public RedisTimelines {
 protected:
  PartMarked Mark(uint32_t range, uint32_t parts, bool delivered) {
    return driver_.Do(MarkPart{0, kBob, PostId{9}, range, parts, delivered});
  }
};

TEST_F(DeliveryMarking, PartsAreMarkedOnceAndTheLastOneIsKnown) {
  EXPECT_FALSE(Mark(0, 3, false).first_delivery);
  EXPECT_TRUE(Mark(15, 3, true).first_delivery);
  const auto again = Mark(15, 3, true);
  EXPECT_FALSE(again.first_delivery);
  EXPECT_FALSE(again.last_part);
  const auto last = Mark(7, 3, true);  // the other ranges have no part of this post
  EXPECT_TRUE(last.last_part);
  EXPECT_TRUE(last.any_delivery);
  EXPECT_FALSE(last.first_delivery);
  EXPECT_FALSE(Mark(7, 3, true).last_part) << "told once";
  const long ttl = std::stol(console_.Run({"TTL", Name(keys_.Done(kBob, PostId{9}))}));
  EXPECT_GT(ttl, 3500);
  EXPECT_LE(ttl, 3600);
}

TEST_F(DeliveryMarking, ThePartsOfARedispatchThatFoundMoreRangesAreNotCountedAgain) {
  Mark(0, 2, true);
  EXPECT_TRUE(Mark(1, 2, true).last_part);
  EXPECT_FALSE(Mark(5, 3, true).last_part);
}

TEST_F(DeliveryMarking, ThePartsOfARedispatchThatFoundFewerRangesAreEnough) {
  Mark(0, 3, true);
  Mark(1, 3, false);
  EXPECT_TRUE(Mark(1, 2, false).last_part);
  EXPECT_FALSE(Mark(5, 3, true).last_part);
}

TEST_F(DeliveryMarking, AnUndeliveredPostHasALastPartAndNoFirst) {
  EXPECT_FALSE(Mark(3, 1, false).first_delivery);
  const auto later = Mark(4, 2, false);
  EXPECT_FALSE(later.last_part);
  EXPECT_FALSE(later.any_delivery);
}

// ---- the audit's view -----------------------------------------------------------------------

TEST_F(RedisTimelines, TheScannerSeesEveryTimelineAsItIs) {
  Build(kBob, 3, At(0, 0).created_at);
  Open(UserId{7}, "a");
  console_.Run({"ZADD", Name(keys_.Timeline(UserId{8})), "0", "rubbish"});
  console_.Run({"SET", Name(keys_.Timeline(UserId{9})), "x"});
  console_.Run({"SET", "tl:{nonsense}:9", "x"});
  const Range other = (keys_.layout().RangeOf(UserId{10}) + 1) % 16;
  console_.Run(
      {"SET", Name(keys_.Timeline(other, UserId{10})), "of when buckets were cut otherwise"});
  TimelineScanner scanner(options_);
  std::vector<UserId> readers;
  ASSERT_TRUE(scanner.Readers(&readers).done());
  EXPECT_EQ(readers, (std::vector{UserId{7}, UserId{8}, UserId{9}, kBob}));
  std::vector<RawTimeline> raw;
  ASSERT_TRUE(scanner.Read(readers, [&](const RawTimeline& t) { raw.push_back(t); }).done());
  ASSERT_EQ(raw.size(), 4u);
  EXPECT_EQ(raw[0].state, TimelineState::kBuilding);
  EXPECT_NE(raw[1].problem, "");
  EXPECT_NE(raw[2].problem, "");
  EXPECT_EQ(raw[3].items, (std::vector{At(3, 3), At(2, 2), At(1, 1)}));
  EXPECT_EQ(raw[3].floor, At(0, 0).created_at);
  EXPECT_EQ(raw[3].problem, "");
  RangeIndex index;
  ASSERT_TRUE(scanner.Index(range_, &index).done());
  EXPECT_TRUE(index.complete);
  EXPECT_EQ(index.readers, std::vector{kBob});
}

// #sampled stands in live: beside the readers, as #complete does.
TEST_F(RedisTimelines, WhatMarksAnIndexAsSampledIsNoReader) {
  RebuildBegun begun{};
  ASSERT_TRUE(reader_.Begin(kBob, "t", 4, &begun).done());
  const auto marked = [&] {
    return console_.Run({"SISMEMBER", Name(keys_.Live(range_)), "#sampled"}) == "1";
  };
  ASSERT_TRUE(marked());
  std::vector<RangeState> ranges;
  ASSERT_TRUE(ReadRangeStates(options_, &ranges).done());
  for (const RangeState& range : ranges) EXPECT_EQ(range.readers, range.range == range_ ? 1u : 0u);
  TimelineScanner scanner(options_);
  RangeIndex index;
  ASSERT_TRUE(scanner.Index(range_, &index).done());
  EXPECT_EQ(index.readers, std::vector{kBob});
  std::string cursor;
  std::vector<UserId> listed;
  ASSERT_TRUE(scanner.Listed(range_, &cursor, &listed).done());
  EXPECT_EQ(listed, std::vector{kBob});
  // A rebuild that begins takes out readers whose timelines went: it looks at all there are here.
  UserId other{1};
  while (other == kBob || keys_.layout().RangeOf(other) != range_) other = UserId{Raw(other) + 1};
  console_.Run({"DEL", Name(keys_.Timeline(kBob))});
  Open(other, "t");
  EXPECT_FALSE(IsListed(kBob));
  EXPECT_TRUE(marked());
}

TEST_F(RedisTimelines, AWalkOverAnIndexMeetsEveryReaderAFewAtATime) {
  std::set<UserId> all;
  for (uint64_t raw = 1; all.size() < 200; ++raw) {
    if (keys_.layout().RangeOf(UserId{raw}) != range_) continue;
    Open(UserId{raw}, "a");
    all.insert(UserId{raw});
  }
  TimelineScanner scanner(options_);
  for (int walk = 0; walk < 2; ++walk) {
    std::set<UserId> met;
    std::string cursor;
    int pages = 0;
    do {
      std::vector<UserId> readers;
      ASSERT_TRUE(scanner.Listed(range_, &cursor, &readers).done());
      EXPECT_LT(readers.size(), 40u);
      met.insert(readers.begin(), readers.end());
      ++pages;
    } while (!cursor.empty() && pages < 500);
    EXPECT_GT(pages, 5);
    EXPECT_TRUE(std::includes(met.begin(), met.end(), all.begin(), all.end()));
  }
  std::string cursor;
  std::vector<UserId> readers{kBob};
  ASSERT_TRUE(scanner.Listed((range_ + 1) % 16, &cursor, &readers).done());
  EXPECT_TRUE(readers.empty() && cursor.empty());
}

TEST_F(RedisTimelines, OneTimelineIsReadWithItsPlaceInTheIndex) {
  Build(kBob, 3, At(0, 0).created_at);
  TimelineScanner scanner(options_);
  RawTimeline timeline;
  bool indexed = false;
  ASSERT_TRUE(scanner.Read(kBob, &timeline, &indexed).done());
  EXPECT_EQ(timeline.items.size(), 3u);
  EXPECT_TRUE(indexed);
  console_.Run({"SREM", Name(keys_.Live(range_)), ToString(kBob)});
  ASSERT_TRUE(scanner.Read(kBob, &timeline, &indexed).done());
  EXPECT_FALSE(indexed);
  console_.Run({"SREM", Name(keys_.Live(range_)), "#complete"});
  ASSERT_TRUE(scanner.Read(kBob, &timeline, &indexed).done());
  EXPECT_TRUE(indexed) << "an index that is not complete lacks nobody";
}

TEST_F(RedisTimelines, WhateverItsKeyHoldsATimelineCanBeDropped) {
  RedisReaderTimelines reader(options_);
  Build(kBob, 3, At(0, 0).created_at);
  const std::string key(Name(keys_.Timeline(kBob)));
  EXPECT_TRUE(reader.Drop(kBob).done());
  EXPECT_EQ(console_.Run({"EXISTS", key}), "0");
  console_.Run({"SET", key, "no timeline"});
  EXPECT_TRUE(reader.Drop(kBob).done());
  EXPECT_EQ(console_.Run({"EXISTS", key}), "0");
  EXPECT_TRUE(reader.Drop(kBob).done());
}

// ---- the sweep ------------------------------------------------------------------------------

TEST_F(RedisTimelines, ASweepDeletesWhatIsOursPageByPageAndNothingElse) {
  for (uint64_t raw = 1; raw <= 300; ++raw) Open(UserId{raw}, "a");
  console_.Run({"SET", "edge:{42}", "7"});  // of version 4
  console_.Run({"SET", "cart:{42}:7", "of another application"});
  console_.Run({"SADD", "live:{41}", "likewise: the tag is of no range"});
  Options paged = options_;
  paged.scan_count = 50;
  KeySweeper sweeper(paged);
  int pages = 0;
  for (; !sweeper.done(); ++pages) ASSERT_TRUE(sweeper.Step().done());
  EXPECT_GE(pages, 3);
  EXPECT_EQ(console_.Run({"KEYS", "cart:*"}), "cart:{42}:7");
  EXPECT_EQ(console_.Run({"KEYS", "live:*"}), "live:{41}");
  EXPECT_EQ(console_.Run({"DBSIZE"}), "2");
  EXPECT_GE(sweeper.deleted(), 301u + 3u);  // and own:, pos:, maxfloor: of Bob's range
  KeySweeper again(paged);
  ASSERT_TRUE(again.Step().done());
  EXPECT_EQ(again.deleted(), 0u);
  EXPECT_EQ(again.looked_at(), 50u) << "a page costs Redis as much where nothing is ours";
}

}  // namespace
}  // namespace fanline::redis::testing
