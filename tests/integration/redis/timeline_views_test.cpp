// The audit's view of timelines, and the sweep of keys.
#include <gtest/gtest.h>

#include <set>

#include "backends/redis/key_sweeper.h"
#include "backends/redis/range_states.h"
#include "tests/integration/redis/blocking_timelines.h"
#include "tests/integration/redis/timelines_world.h"

namespace fanline::redis::testing {
namespace {

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

// #complete and #n stand in live: beside the readers.
TEST_F(RedisTimelines, WhatMarksAnIndexAsCompleteIsNoReader) {
  Open(kBob, "t");
  const auto marked = [&] { return Lists(keys_.Live(range_), "#complete"); };
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
  const UserId other = OthersHere(1).front();
  console_.Run({"DEL", Name(keys_.Timeline(kBob))});
  Open(other, "t");
  EXPECT_FALSE(IsListed(kBob));
  EXPECT_TRUE(marked());
}

TEST_F(RedisTimelines, AWalkOverAnIndexMeetsEveryReaderAFewAtATime) {
  std::set<UserId> all;
  for (const UserId reader : OthersHere(200)) {
    Open(reader, "a");
    all.insert(reader);
  }
  TimelineScanner scanner(options_);
  for (int walk = 0; walk < 2; ++walk) {
    std::set<UserId> met;
    std::string cursor;
    int pages = 0;
    do {
      std::vector<UserId> readers;
      ASSERT_TRUE(scanner.Listed(range_, &cursor, &readers).done());
      EXPECT_LE(readers.size(), 10u);
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
  console_.Run({"ZREM", Name(keys_.Live(range_)), ToString(kBob)});
  ASSERT_TRUE(scanner.Read(kBob, &timeline, &indexed).done());
  EXPECT_FALSE(indexed);
  console_.Run({"ZREM", Name(keys_.Live(range_)), "#complete"});
  ASSERT_TRUE(scanner.Read(kBob, &timeline, &indexed).done());
  EXPECT_TRUE(indexed) << "an index that is not complete lacks nobody";
}

TEST_F(RedisTimelines, WhateverItsKeyHoldsATimelineCanBeDropped) {
  BlockingTimelines reader(options_);
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
  EXPECT_GE(sweeper.deleted(), 300u + 3u);  // and own:, pos:, maxfloor: of Bob's range
  KeySweeper again(paged);
  ASSERT_TRUE(again.Step().done());
  EXPECT_EQ(again.deleted(), 0u);
  EXPECT_EQ(again.looked_at(), 50u) << "a page costs Redis as much where nothing is ours";
}

}  // namespace
}  // namespace fanline::redis::testing
