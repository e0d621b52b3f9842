#include "api/rebuilds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <optional>

#include "fanline/ports/reader_ports.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;

class RebuildsTest : public ::testing::Test {
 protected:
  // One thread, which waits within its first rebuild until Release. From 90 on they are strangers.
  void Start(Rebuilds::Limits limits) {
    const auto rebuild = [this](UserId reader, const Rebuilds::Admit& admit) {
      if (reader >= UserId{90} && admit && !admit()) return;
      begun_.push_back(reader);
      if (begun_.size() > 1) return;
      first_begun_.set_value();
      release_.get_future().wait();
    };
    rebuilds_.emplace(std::vector<Rebuilds::Rebuild>{rebuild}, limits, metrics_,
                      [this] { return now_.load(); });
  }
  void StartFirst(UserId reader) {
    ASSERT_TRUE(rebuilds_->Offer(reader, true));
    first_begun_.get_future().wait();
  }
  // The readers whose rebuilds were begun; the end forgets those who still wait.
  std::vector<UserId> Begun() {
    rebuilds_.reset();
    return begun_;
  }

  Metrics metrics_;
  std::atomic<Time> now_ = Time{};
  std::vector<UserId> begun_;  // by the thread; read when it has ended
  std::promise<void> first_begun_, release_;
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
  release_.set_value();
  while (!rebuilds_->Offer(UserId{3}, true)) std::this_thread::yield();
  while (!rebuilds_->Offer(UserId{4}, true)) std::this_thread::yield();
  while (!rebuilds_->Offer(UserId{5}, true)) std::this_thread::yield();
  EXPECT_THAT(Begun(), ::testing::IsSupersetOf({UserId{1}, UserId{2}, UserId{3}}));
}

TEST_F(RebuildsTest, TheEndForgetsWhatWaits) {
  Start({});
  StartFirst(UserId{1});
  EXPECT_TRUE(rebuilds_->Offer(UserId{2}, true));
  auto ended = std::async(std::launch::async, [this] { return Begun(); });
  // The end has begun, or will find what waits.
  release_.set_value();
  EXPECT_LE(ended.get().size(), 2u);
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
  release_.set_value();
}

// Who awaits a rebuild, and notes what it was told.
class RebuildsAwaited : public RebuildsTest {
 protected:
  Rebuilds::Then Note(std::promise<bool>& told) {
    return [&told](bool go_on) { told.set_value(go_on); };
  }
};

TEST_F(RebuildsAwaited, AllWhoAwaitAReaderGoOnWhenTheRebuildHasEnded) {
  Start({});
  StartFirst(UserId{1});
  std::promise<bool> under_way, waiting, again;
  EXPECT_TRUE(rebuilds_->Await(UserId{1}, Note(under_way)));
  EXPECT_TRUE(rebuilds_->Await(UserId{2}, Note(waiting)));
  EXPECT_TRUE(rebuilds_->Await(UserId{2}, Note(again)));
  release_.set_value();
  EXPECT_TRUE(under_way.get_future().get());
  EXPECT_TRUE(waiting.get_future().get());
  EXPECT_TRUE(again.get_future().get());
  EXPECT_THAT(Begun(), ElementsAre(UserId{1}, UserId{2}));
}

// Of four who wait since the first began, one more has begun when the time is over: as many may
// still be to begin before theirs.
TEST_F(RebuildsAwaited, WhoHasWaitedForTooLongInAQueueThatHardlyMovesGoesOnWithout) {
  Start({.longest_wait = std::chrono::seconds(10)});
  StartFirst(UserId{1});
  std::map<uint64_t, std::promise<size_t>> begun_when_told;
  const auto await = [&](uint64_t reader) {
    std::promise<size_t>& told = begun_when_told[reader];
    EXPECT_TRUE(rebuilds_->Await(UserId{reader}, [&](bool) { told.set_value(begun_.size()); }));
  };
  for (const uint64_t reader : {2, 3, 4, 5}) await(reader);
  now_ = Time{} + std::chrono::seconds(10);
  await(6);
  release_.set_value();
  EXPECT_EQ(begun_when_told[2].get_future().get(), 2u);
  EXPECT_EQ(begun_when_told[3].get_future().get(), 3u);
  EXPECT_EQ(begun_when_told[4].get_future().get(), 1u) << "without";
  EXPECT_EQ(begun_when_told[5].get_future().get(), 1u) << "without";
  EXPECT_EQ(begun_when_told[6].get_future().get(), 6u);
  EXPECT_THAT(Begun(),
              ElementsAre(UserId{1}, UserId{2}, UserId{3}, UserId{4}, UserId{5}, UserId{6}))
      << "all are rebuilt all the same";
}

TEST_F(RebuildsAwaited, NobodyWaitsWhereThereIsNoRoomOrPastTheEnd) {
  Start({.waiting = 1});
  StartFirst(UserId{1});
  std::promise<bool> second;
  EXPECT_TRUE(rebuilds_->Await(UserId{2}, Note(second)));
  EXPECT_FALSE(rebuilds_->Await(UserId{3}, [](bool) { FAIL() << "it was not taken"; }));
  auto ended = std::async(std::launch::async, [this] { return Begun(); });
  release_.set_value();
  static_cast<void>(second.get_future().get());  // rebuilt, or told of the end
  ended.get();
}

TEST_F(RebuildsAwaited, StrangersAreBounded) {
  Start({.strangers = 1});
  StartFirst(UserId{1});
  std::promise<bool> one, other, known;
  EXPECT_TRUE(rebuilds_->Await(UserId{91}, Note(one)));
  EXPECT_TRUE(rebuilds_->Await(UserId{92}, Note(other)));
  EXPECT_TRUE(rebuilds_->Await(UserId{2}, Note(known)));
  release_.set_value();
  EXPECT_TRUE(known.get_future().get());
  EXPECT_TRUE(other.get_future().get()) << "without a timeline";
  EXPECT_THAT(Begun(), ElementsAre(UserId{1}, UserId{91}, UserId{2}));
}

// They were counted when they were offered.
TEST_F(RebuildsAwaited, AStrangerWhoWasOfferedCountsOnce) {
  Start({.strangers = 2});
  StartFirst(UserId{1});
  std::promise<bool> other;
  EXPECT_TRUE(rebuilds_->Offer(UserId{91}, false));
  EXPECT_TRUE(rebuilds_->Await(UserId{92}, Note(other)));
  release_.set_value();
  EXPECT_TRUE(other.get_future().get());
  EXPECT_THAT(Begun(), ElementsAre(UserId{1}, UserId{91}, UserId{92}));
}

}  // namespace
}  // namespace fanline::api
