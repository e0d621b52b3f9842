#include "api/rebuilds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "fanline/ports/reader_ports.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;

class RebuildsTest : public ::testing::Test {
 protected:
  // One thread, which waits within its first rebuild until Release.
  void Start(Rebuilds::Limits limits) {
    rebuilds_.emplace(std::vector<Rebuilds::Rebuild>{[this](UserId reader) {
                        begun_.push_back(reader);
                        if (begun_.size() > 1) return;
                        first_begun_.set_value();
                        release_.get_future().wait();
                      }},
                      limits, metrics_, [this] { return now_; });
  }
  void StartFirst(UserId reader) {
    ASSERT_TRUE(rebuilds_->Offer(reader, true));
    first_begun_.get_future().wait();
  }
  // Of what was offered; what waits is forgotten when the end comes first.
  std::vector<UserId> Begun() {
    rebuilds_.reset();
    return begun_;
  }

  Metrics metrics_;
  Time now_{};
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
  now_ += std::chrono::seconds(1);
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

}  // namespace
}  // namespace fanline::api
