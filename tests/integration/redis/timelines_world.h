// One range and its timelines on a real Redis, for tests by example. model_test.cpp tests the
// timeline scripts with random requests.
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
inline constexpr UserId kAnn{500};  // the author of all posts here

inline std::string Name(const Key& key) { return std::string(std::string_view(key)); }
inline Item At(uint64_t post, UnixMs minutes = 0) {
  return {PostId{post}, kDawn + minutes * 60'000, kAnn};
}

// A pusher that may own Bob's range, and one reader; Redis empty.
class RedisRange : public ::testing::Test {
 protected:
  explicit RedisRange(const Options& options = OptionsFromEnvironment())
      : options_(options),
        console_(options_),
        driver_(options_),
        reader_(options_),
        keys_(options_),
        range_(keys_.layout().RangeOf(kBob)) {
    console_.Run({"FLUSHALL"});
    driver_.WaitUntilConnected();
  }

  void Own(uint64_t epoch) {
    const RangeClaimed claimed = driver_.Do(ClaimRange{0, range_, epoch});
    ASSERT_TRUE(claimed.status.done()) << claimed.status.message;
    ASSERT_EQ(claimed.refused_by, 0u);
  }

  // A ready timeline of `count` items, one a minute, the oldest at minute 1; posts 1..count.
  void Build(UserId reader, uint32_t count = 0, Floor floor = kNoFloor) {
    std::vector<Item> items;
    for (uint32_t i = count; i > 0; --i) items.push_back(At(i, i));
    Open(reader);
    ASSERT_TRUE(reader_.Finish(reader, "t", items, floor).applied);
  }
  void Open(UserId reader, const char* token = "t") { Open(reader_, reader, token); }
  static void Open(BlockingTimelines& timelines, UserId reader = kBob, const char* token = "t") {
    const RebuildBegan began = timelines.Begin(reader, token);
    ASSERT_TRUE(began.status.done()) << began.status.message;
    ASSERT_EQ(began.begun, RebuildBegun::kCreated);
  }
  LivePage Page(UserId reader, uint32_t limit = 1000) {
    const LivePageRead read = reader_.Read(reader, {}, limit);
    EXPECT_TRUE(read.status.done());
    return read.page;
  }
  bool Exists(UserId reader) {
    return console_.Run({"EXISTS", Name(keys_.Timeline(reader))}) == "1";
  }
  bool IsListed(UserId reader) {
    return Lists(keys_.Live(keys_.layout().RangeOf(reader)), ToString(reader));
  }
  bool Lists(const Key& live, const std::string& member) {
    return console_.Run({"ZSCORE", Name(live), member}) != "(nil)";
  }

  const Options options_;
  Console console_;
  Driver driver_;
  BlockingTimelines reader_;
  const Keys keys_;
  const Range range_;
};

// The range taken over.
class RedisTimelines : public RedisRange {
 protected:
  RedisTimelines() { TakeOver(kEpoch); }

  void TakeOver(uint64_t epoch) {
    Own(epoch);
    const ResetRange reset{0, range_, epoch, ResetRange::Timelines::kDrop, AppliedPosition{1, 0}};
    ASSERT_TRUE(driver_.Do(reset).status.done());
  }

  bool Close(UserId reader, const std::string& token, std::vector<Item> items) {
    std::sort(items.begin(), items.end(), IsNewer);
    const RebuildFinished finished = reader_.Finish(reader, token, items);
    EXPECT_TRUE(finished.status.done());
    return finished.applied;
  }

  BatchWritten Push(UserId reader, std::vector<Item> adds, std::vector<Item> removes = {}) {
    return driver_.Do(BatchOf(range_, kEpoch).Write(reader, adds, removes).Take());
  }
  size_t Card(UserId reader) {
    return std::stoul(console_.Run({"ZCARD", Name(keys_.Timeline(reader))}));
  }
  // Readers of Bob's range, other than he.
  std::vector<UserId> OthersHere(size_t count) const {
    std::vector<UserId> readers;
    for (uint64_t raw = 2000; readers.size() < count; ++raw) {
      if (keys_.layout().RangeOf(UserId{raw}) == range_) readers.push_back(UserId{raw});
    }
    return readers;
  }
};

}  // namespace fanline::redis::testing
