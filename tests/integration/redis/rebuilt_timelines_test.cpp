// Timelines that are built, that expire and that are read page by page.
#include <gtest/gtest.h>

#include "tests/integration/redis/blocking_timelines.h"
#include "tests/integration/redis/timelines_world.h"

namespace fanline::redis::testing {
namespace {

TEST_F(RedisTimelines, ARebuildTakesNothingFromAKeyThatWasNoTimeline) {
  console_.Run({"ZADD", Name(keys_.Timeline(kBob)), "-7", "5000"});
  Open(kBob, "a");
  EXPECT_TRUE(Close(kBob, "a", {At(1, 1)}));
  EXPECT_EQ(Page(kBob).items, std::vector{At(1, 1)});
}

TEST_F(RedisTimelines, ARebuildStartsAgainIfRemovalsLeaveLessThanHalfAWindowAboveAFloor) {
  for (const uint32_t removed : {225u, 226u}) {
    console_.Run({"DEL", Name(keys_.Timeline(kBob))});
    Open(kBob);
    for (uint32_t post = 1; post <= removed; ++post) Push(kBob, {}, {At(post)});
    std::vector<Item> items;
    for (uint32_t i = 450; i > 0; --i) items.push_back(At(i, i));
    const bool whole = removed == 225;
    EXPECT_EQ(reader_.Finish(kBob, "t", items, At(0, 0).created_at).applied, whole);
    EXPECT_EQ(Exists(kBob), whole);
  }
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
  EXPECT_LT(std::stoul(console_.Run({"ZCARD", Name(keys_.Live(range_))})), 30u);
  EXPECT_TRUE(IsListed(kBob));
  EXPECT_TRUE(Lists(keys_.Live(range_), "#complete"));
}

// An ACL that allows less than the scripts would use.
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
  BlockingTimelines reader(brief);
  Build(kBob, 1);
  console_.Run({"PEXPIRE", Name(keys_.Timeline(kBob)), "20000"});
  ASSERT_TRUE(reader.Read(kBob).status.done());
  EXPECT_GT(std::stol(console_.Run({"PTTL", Name(keys_.Timeline(kBob))})), 30'000);
}

// A replica that restarts, or a full disk, would move every reader to MariaDB.
TEST_F(RedisTimelines, AMasterThatTakesNoWritesServesPagesAllTheSame) {
  Build(kBob, 3);
  const std::string key = Name(keys_.Timeline(kBob));
  console_.Run({"PEXPIRE", key, "30000"});
  console_.Run({"CONFIG", "SET", "min-replicas-to-write", "1"});
  const LivePageRead read = reader_.Read(kBob);
  console_.Run({"CONFIG", "SET", "min-replicas-to-write", "0"});
  EXPECT_TRUE(read.status.done()) << read.status.message;
  EXPECT_EQ(read.page.items.size(), 3u);
  EXPECT_LE(std::stol(console_.Run({"PTTL", key})), 30'000) << "it was refused";
  Page(kBob);
  EXPECT_GT(std::stol(console_.Run({"PTTL", key})), 60'000);
}

TEST_F(RedisTimelines, WhatIsNoTimelineIsReplacedByARebuild) {
  const std::string key = Name(keys_.Timeline(kBob));
  for (const auto& command : {std::vector<std::string>{"SET", key, "x"}, {"SADD", key, "5"}}) {
    console_.Run({"DEL", key});
    console_.Run(command);
    EXPECT_EQ(Page(kBob).state, TimelineState::kNotLive);
    Build(kBob, 3);
    EXPECT_EQ(Page(kBob).items.size(), 3u);
  }
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

}  // namespace
}  // namespace fanline::redis::testing
