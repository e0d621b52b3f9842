// One owner of a range and its timelines on a real Redis, for tests of the timeline scripts by
// example. model_test.cpp tests them with random requests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/redis/keys.h"
#include "tests/integration/redis/blocking_timelines.h"
#include "tests/integration/redis/redis_world.h"

namespace fanline::redis::testing {

inline constexpr UnixMs kDawn = 1'700'000'000'000;
inline constexpr uint64_t kEpoch = 7;
inline constexpr UserId kBob{1001};

inline std::string Name(const Key& key) { return std::string(std::string_view(key)); }
inline Item At(uint64_t post, UnixMs minutes) { return {PostId{post}, kDawn + minutes * 60'000}; }

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
    ASSERT_TRUE(reader_.Begin(reader, "t", &begun).done());
    ASSERT_EQ(begun, RebuildBegun::kCreated);
    ASSERT_TRUE(reader_.Finish(reader, "t", items, floor, {}, &applied).done());
    ASSERT_TRUE(applied);
  }
  void Open(UserId reader, const std::string& token) {
    RebuildBegun begun{};
    ASSERT_TRUE(reader_.Begin(reader, token, &begun).done());
    ASSERT_EQ(begun, RebuildBegun::kCreated);
  }
  bool Close(UserId reader, const std::string& token, std::vector<Item> items) {
    bool applied = false;
    std::sort(items.begin(), items.end(), IsNewer);
    EXPECT_TRUE(reader_.Finish(reader, token, items, kNoFloor, {}, &applied).done());
    return applied;
  }

  BatchWritten Push(UserId reader, std::vector<Item> adds, std::vector<PostId> removes = {}) {
    return driver_.Do(BatchOf(range_, kEpoch).Write(reader, adds, removes).Take());
  }
  LivePage Page(UserId reader, uint32_t limit = 1000) {
    LivePage page;
    EXPECT_TRUE(reader_.Read(reader, std::nullopt, limit, &page).done());
    return page;
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
  // Readers of Bob's range, other than he.
  std::vector<UserId> OthersHere(size_t count, uint64_t from = 2000) const {
    std::vector<UserId> readers;
    for (; readers.size() < count; ++from) {
      if (keys_.layout().RangeOf(UserId{from}) == range_) readers.push_back(UserId{from});
    }
    return readers;
  }
  // Without the index, the scripts themselves meet timelines that are gone.
  void ForgetIndex() { console_.Run({"SREM", Name(keys_.Live(range_)), "#complete"}); }

  const Options options_;
  Console console_;
  Driver driver_;
  BlockingTimelines reader_;
  const Keys keys_;
  const Range range_;
};

}  // namespace fanline::redis::testing
