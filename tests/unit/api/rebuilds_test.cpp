#include "api/rebuilds.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/ports/reader_ports.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;

class RebuildsTest : public ::testing::Test {
 protected:
  // One at once, which ends with Release. From 90 on readers are strangers.
  void Start(Rebuilds::Limits limits) {
    limits.at_once = 1;
    const auto begin = [this](UserId reader, const Rebuilds::Admit& admit,
                              const std::function<void()>& ended) {
      if (reader >= UserId{90} && admit && !admit()) return ended();
      begun_.push_back(reader);
      if (released_) return ended();
      ended_.push_back(ended);
    };
    rebuilds_.emplace(begin, limits, metrics_, [this] { return now_; });
  }
  void StartFirst(UserId reader) {
    ASSERT_TRUE(rebuilds_->Offer(reader, true));
    EXPECT_THAT(begun_, ElementsAre(reader));
  }
  // All that began end, and those that begin then.
  void Release() {
    released_ = true;
    for (const auto& ended : std::exchange(ended_, {})) ended();
  }

  Metrics metrics_;
  Time now_{};
  std::vector<UserId> begun_;
  std::vector<std::function<void()>> ended_;
  bool released_ = false;
  std::optional<Rebuilds> rebuilds_;
};

TEST_F(RebuildsTest, AReaderIsTakenOnceWhileWaitingOrUnderWay) {
  Start({.waiting = 1});
  StartFirst(UserId{1});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(rebuilds_->Offer(UserId{1}, true));
    EXPECT_TRUE(rebuilds_->Offer(UserId{2}, true));
  }
  EXPECT_FALSE(rebuilds_->Offer(UserId{3}, true)) << "there is no room";
  Release();
  for (const uint64_t reader : {3, 1}) EXPECT_TRUE(rebuilds_->Offer(UserId{reader}, true));
  EXPECT_THAT(begun_, ElementsAre(UserId{1}, UserId{2}, UserId{3}, UserId{1}));
}

// One may end within its beginning: the next does not begin within that.
TEST_F(RebuildsTest, ManyThatEndAtOnceBeginOneAfterTheOther) {
  Start({});
  StartFirst(UserId{1});
  for (uint64_t reader = 1'000; reader < 11'000; ++reader) {
    ASSERT_TRUE(rebuilds_->Offer(UserId{reader}, true));
  }
  Release();
  EXPECT_EQ(begun_.size(), 10'001u);
}

TEST_F(RebuildsTest, AShardThatHangsHoldsNoMoreThanHalf) {
  const ShardMap two = ShardMap::Even(2);
  std::vector<UserId> hung, well;
  for (uint64_t id = 1; hung.size() < 20 || well.size() < 3; ++id) {
    (two.ShardOf(UserId{id}) == 0 ? hung : well).push_back(UserId{id});
  }
  Rebuilds rebuilds([this](UserId reader, const Rebuilds::Admit&,
                           const std::function<void()>&) { begun_.push_back(reader); },
                    {.at_once = 4}, metrics_, [] { return Time{}; }, two);
  for (const UserId reader : hung) EXPECT_TRUE(rebuilds.Offer(reader, true));
  EXPECT_THAT(begun_, ElementsAre(hung[0], hung[1]));
  EXPECT_TRUE(rebuilds.HasBacklog(hung[0]));
  EXPECT_FALSE(rebuilds.HasBacklog(well[0])) << "others' pages need not wait";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rebuilds.Offer(well[static_cast<size_t>(i)], true));
  EXPECT_THAT(begun_, ElementsAre(hung[0], hung[1], well[0], well[1]));
}

// Their rebuilds wait for its posts.
TEST_F(RebuildsTest, WhoLacksAShardThatIsSlowWaitsInItsQueue) {
  const ShardMap two = ShardMap::Even(2);
  const UserId first{1};
  const Shard own = two.ShardOf(first), slow = 1 - own;
  Rebuilds rebuilds([this](UserId reader, const Rebuilds::Admit&,
                           const std::function<void()>&) { begun_.push_back(reader); },
                    {.at_once = 2, .waiting = 4}, metrics_, [] { return Time{}; }, two);
  for (const uint64_t id : {101, 102, 103}) EXPECT_TRUE(rebuilds.Offer(UserId{id}, true, slow));
  EXPECT_TRUE(rebuilds.Offer(first, true));
  EXPECT_THAT(begun_, ElementsAre(UserId{101}, first)) << "no place of the others'";
  EXPECT_FALSE(rebuilds.Offer(UserId{104}, true, slow)) << "half of the queue is theirs";
  EXPECT_TRUE(rebuilds.Offer(UserId{104}, true));
}

TEST_F(RebuildsTest, StrangersAreBoundedInTheTimeTheirTimelinesLive) {
  Start({.waiting = 100, .strangers = 2});
  StartFirst(UserId{1});
  EXPECT_TRUE(rebuilds_->Offer(UserId{91}, false));
  now_ = Time{} + std::chrono::seconds(1);
  EXPECT_TRUE(rebuilds_->Offer(UserId{92}, false));
  EXPECT_FALSE(rebuilds_->Offer(UserId{93}, false));
  EXPECT_TRUE(rebuilds_->Offer(UserId{2}, true)) << "known ones are not";
  now_ = Time{} + kEmptyTimelineTtl - std::chrono::milliseconds(1);
  EXPECT_FALSE(rebuilds_->Offer(UserId{93}, false));
  now_ = Time{} + kEmptyTimelineTtl;
  EXPECT_TRUE(rebuilds_->Offer(UserId{93}, false));
  EXPECT_FALSE(rebuilds_->Offer(UserId{94}, false)) << "the second has not gone yet";
  Release();
}

class RebuildsAwaited : public RebuildsTest {
 protected:
  // Notes how many had begun when it was told.
  void Await(uint64_t reader, const Alive& alive = {}) {
    EXPECT_TRUE(
        rebuilds_->Await(UserId{reader}, alive, [this, reader] { told_[reader] = begun_.size(); }));
  }

  std::map<uint64_t, size_t> told_;
};

TEST_F(RebuildsAwaited, AllWhoAwaitAReaderGoOnWhenTheRebuildHasEnded) {
  Start({});
  StartFirst(UserId{1});
  Await(1);
  int told = 0;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(rebuilds_->Await(UserId{2}, {}, [&] { ++told; }));
  EXPECT_TRUE(told_.empty());
  Release();
  EXPECT_EQ(told_[1], 1u);
  EXPECT_EQ(told, 2);
  EXPECT_THAT(begun_, ElementsAre(UserId{1}, UserId{2}));
}

// One more has begun when the time is over: the others would wait for as many times as they are.
TEST_F(RebuildsAwaited, WhoHasWaitedForTooLongInAQueueThatHardlyMovesGoesOnWithout) {
  constexpr uint64_t kStay = 2 + Rebuilds::kTurns;
  for (const uint64_t last : {kStay, kStay + 1}) {
    told_.clear();
    begun_.clear();
    released_ = false;
    now_ = {};
    Start({.longest_wait = std::chrono::seconds(10)});
    StartFirst(UserId{1});
    for (uint64_t reader = 2; reader <= last; ++reader) Await(reader);
    now_ = Time{} + std::chrono::seconds(10);
    Release();
    EXPECT_EQ(told_[2], 2u);
    for (uint64_t reader = 3; reader <= last; ++reader) {
      EXPECT_EQ(told_[reader], last > kStay ? 1u : reader) << "1: without";
    }
    EXPECT_EQ(begun_.size(), last) << "all are rebuilt all the same";
  }
}

TEST_F(RebuildsAwaited, WhoIsOvertakenForTooLongGoesOnWithoutThoughTheQueueMoves) {
  Start({.longest_wait = std::chrono::seconds(10), .newest_first_after = std::chrono::seconds(1)});
  StartFirst(UserId{1});
  Await(2);
  for (int turn = 1; turn <= Rebuilds::kTurns; ++turn) {
    EXPECT_FALSE(told_.contains(2));
    now_ = Time{} + turn * std::chrono::seconds(10);
    Await(static_cast<uint64_t>(2 + turn));
    std::exchange(ended_, {}).at(0)();  // the newest begins
    rebuilds_->Step();
  }
  EXPECT_TRUE(told_.contains(2));
  Release();
}

TEST_F(RebuildsAwaited, NoMorePagesWaitThanMay) {
  Start({.pages = 2});
  StartFirst(UserId{1});
  Await(2);
  Await(2);
  EXPECT_FALSE(rebuilds_->Await(UserId{2}, {}, [] { FAIL() << "it was not taken"; }));
  Release();
  EXPECT_TRUE(rebuilds_->Await(UserId{3}, {}, [] {}));
}

TEST_F(RebuildsAwaited, WhoseClientHasLeftWaitsNoLonger) {
  Start({});
  StartFirst(UserId{1});
  const auto alive = std::make_shared<std::atomic<bool>>(true);
  int left = 0;
  for (const uint64_t reader : {1, 2}) {
    Await(reader);
    EXPECT_TRUE(rebuilds_->Await(UserId{reader}, alive, [&] { ++left; }));
  }
  rebuilds_->Step();
  EXPECT_EQ(left, 0);
  *alive = false;
  rebuilds_->Step();
  EXPECT_EQ(left, 0) << "it has just looked";
  now_ += std::chrono::milliseconds(100);
  rebuilds_->Step();
  EXPECT_EQ(left, 2);
  EXPECT_TRUE(told_.empty()) << "others wait on";
  Release();
  EXPECT_EQ(told_.size(), 2u);
  EXPECT_EQ(left, 2);
}

TEST_F(RebuildsAwaited, NobodyWaitsWhenTheProgramStops) {
  Start({});
  StartFirst(UserId{1});
  for (const uint64_t reader : {1, 2}) Await(reader);
  rebuilds_->Stop();
  rebuilds_->Step();
  EXPECT_EQ(told_.size(), 2u);
  EXPECT_FALSE(rebuilds_->Await(UserId{3}, {}, [] { FAIL() << "it was not taken"; }));
  Release();
}

TEST_F(RebuildsAwaited, TheNewestIsNextOnceTheOldestHasWaitedForTooLong) {
  Start({.newest_first_after = std::chrono::seconds(1)});
  StartFirst(UserId{1});
  for (const uint64_t reader : {2, 3}) Await(reader);
  now_ = Time{} + std::chrono::milliseconds(1'001);
  for (const uint64_t reader : {4, 5}) Await(reader);
  Release();
  EXPECT_THAT(begun_, ElementsAre(UserId{1}, UserId{5}, UserId{4}, UserId{3}, UserId{2}));
}

TEST_F(RebuildsAwaited, WhoIsOvertakenByNewerOnesGoesOnWithoutInTheEnd) {
  Start({.longest_wait = std::chrono::seconds(10), .newest_first_after = std::chrono::seconds(1)});
  StartFirst(UserId{1});
  Await(2);
  now_ = Time{} + std::chrono::seconds(2);
  for (const uint64_t reader : {3, 4, 5, 6, 7}) Await(reader);
  for (int i = 0; i < 5; ++i) std::exchange(ended_, {}).at(0)();  // 7 to 3 begin
  EXPECT_EQ(begun_.back(), UserId{3});
  EXPECT_FALSE(told_.contains(2));
  for (int seconds = 12; seconds <= 32; seconds += 10) {
    now_ = Time{} + std::chrono::seconds(seconds);
    rebuilds_->Step();
  }
  EXPECT_TRUE(told_.contains(2));
  Release();
}

TEST_F(RebuildsAwaited, WhoWaitsInFrontOfThoseWhoLeaveGoesOnWithoutInTheEnd) {
  const auto here = std::make_shared<std::atomic<bool>>(true);
  Start({.longest_wait = std::chrono::seconds(10)});
  StartFirst(UserId{1});
  Await(2);
  for (const uint64_t reader : {3, 4, 5, 6, 7}) Await(reader, here);
  *here = false;
  rebuilds_->Step();
  now_ = Time{} + std::chrono::seconds(10);
  rebuilds_->Step();
  EXPECT_TRUE(told_.contains(2));
  Release();
}

TEST_F(RebuildsAwaited, WhoWasOfferedMeanwhileIsRebuiltThoughTheClientLeaves) {
  const auto here = std::make_shared<std::atomic<bool>>(true);
  Start({});
  StartFirst(UserId{1});
  Await(2, here);
  EXPECT_TRUE(rebuilds_->Offer(UserId{2}, true));
  *here = false;
  rebuilds_->Step();
  EXPECT_TRUE(told_.contains(2));
  Release();
  EXPECT_THAT(begun_, ElementsAre(UserId{1}, UserId{2}));
}

// A reader who was offered before has been shown a page, and comes back.
TEST_F(RebuildsAwaited, WhomNobodyWaitsForAnyMoreIsNotRebuilt) {
  const auto left = std::make_shared<std::atomic<bool>>(true);
  Start({});
  StartFirst(UserId{1});
  EXPECT_TRUE(rebuilds_->Offer(UserId{2}, true));
  for (const uint64_t reader : {1, 2, 3, 4}) Await(reader, left);
  EXPECT_TRUE(rebuilds_->Await(UserId{4}, {}, [] {}));
  rebuilds_->Step();
  EXPECT_TRUE(told_.empty());
  *left = false;
  now_ += std::chrono::milliseconds(100);
  rebuilds_->Step();
  EXPECT_EQ(told_.size(), 4u) << "they are told while the first rebuild is under way";
  Release();
  EXPECT_THAT(begun_, ElementsAre(UserId{1}, UserId{2}, UserId{4}));
}

TEST_F(RebuildsAwaited, NobodyWaitsWhereThereIsNoRoom) {
  Start({.waiting = 1});
  StartFirst(UserId{1});
  Await(2);
  EXPECT_FALSE(rebuilds_->Await(UserId{3}, {}, [] { FAIL() << "it was not taken"; }));
  Release();
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(RebuildsAwaited, StrangersAreBounded) {
  Start({.strangers = 1});
  StartFirst(UserId{1});
  for (const uint64_t reader : {91, 92, 2}) Await(reader);
  Release();
  EXPECT_EQ(told_.size(), 3u) << "one of them without a timeline";
  EXPECT_THAT(begun_, ElementsAre(UserId{1}, UserId{91}, UserId{2}));
}

// They were counted when they were offered.
TEST_F(RebuildsAwaited, AStrangerWhoWasOfferedCountsOnce) {
  Start({.strangers = 2});
  StartFirst(UserId{1});
  EXPECT_TRUE(rebuilds_->Offer(UserId{91}, false));
  Await(92);
  Release();
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_THAT(begun_, ElementsAre(UserId{1}, UserId{91}, UserId{92}));
}

}  // namespace
}  // namespace fanline::api
