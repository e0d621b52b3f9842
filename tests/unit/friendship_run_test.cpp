#include "fanline/ports/friendship_run.h"

#include <gmock/gmock.h>

namespace fanline {
namespace {

using ::testing::SizeIs;

constexpr UserId kFive{5}, kSeven{7};

class FriendshipRunTest : public ::testing::Test {
 protected:
  template <class R>
  R Only(const FriendshipRun::Requests& requests) {
    EXPECT_THAT(requests, SizeIs(1));
    return std::get<R>(requests.at(0));
  }
  // Both edges answer. Returns what is asked then.
  FriendshipRun::Requests Announced(FriendshipRun& run, uint64_t settled, uint64_t other) {
    EXPECT_THAT(run.On(PairAnnounced{0, {}, settled}), SizeIs(0));
    return run.On(PairAnnounced{0, {}, other});
  }

  const Friendship friends_{FriendState::kFriends, kFive, 9};
  FriendshipRun remove_{FriendAction::kRemove, kFive, kSeven, 20};
};

TEST_F(FriendshipRunTest, AStepThatIsSoAlreadyOrForbiddenAsksNoMore) {
  EXPECT_THAT(remove_.On(FriendshipRead{0, {}, {FriendState::kRemoved, kFive, 9}}), SizeIs(0));
  EXPECT_TRUE(remove_.done());
  EXPECT_TRUE(remove_.result().status.done());
  EXPECT_FALSE(remove_.result().changed);
  FriendshipRun accept(FriendAction::kAccept, kFive, kSeven, 20);
  EXPECT_THAT(accept.On(FriendshipRead{}), SizeIs(0));
  EXPECT_EQ(accept.result().status.message, "there is no request to answer");
}

TEST_F(FriendshipRunTest, ARequestIsNotAnnounced) {
  FriendshipRun request(FriendAction::kRequest, kFive, kSeven, 20);
  EXPECT_EQ(Only<UseUpChange>(request.On(FriendshipRead{})).user, kFive);
  const auto write = Only<WriteFriendship>(request.On(ChangeUsedUp{}));
  EXPECT_FALSE(write.announced);
  EXPECT_EQ(write.version, 20u);
}

TEST_F(FriendshipRunTest, AnEndIsAnnouncedToBothEdgesAndTakesNoChange) {
  EXPECT_THAT(remove_.On(FriendshipRead{0, {}, friends_}), SizeIs(2));
  const auto write = Only<WriteFriendship>(Announced(remove_, 19, 3));
  EXPECT_TRUE(write.announced);
  EXPECT_EQ(write.version, 20u);
  EXPECT_THAT(remove_.On(FriendshipWritten{0, {}, {FriendState::kRemoved, kFive, 20}, true}),
              SizeIs(0));
  EXPECT_TRUE(remove_.result().changed);
  EXPECT_EQ(remove_.result().now.ver, 20u);
}

TEST_F(FriendshipRunTest, ItIsAnnouncedOnceMoreAboveWhatEitherEdgeHasSettled) {
  (void)remove_.On(FriendshipRead{0, {}, friends_});
  const auto again = Announced(remove_, 4, 20);
  ASSERT_THAT(again, SizeIs(2));
  EXPECT_EQ(std::get<AnnouncePair>(again[0]).version, 21u);
  const auto write = Only<WriteFriendship>(Announced(remove_, 30, 30));
  EXPECT_EQ(write.version, 21u) << "what was settled meanwhile may win";
}

TEST_F(FriendshipRunTest, OneThatIsOvertakenBeginsAgainWithMoreRoomAndGivesUpInTheEnd) {
  FriendshipRun cancel(FriendAction::kCancel, kFive, kSeven, 20);
  const Friendship asked{FriendState::kAsked, kFive, 100};
  auto next = cancel.On(FriendshipRead{0, {}, asked});
  EXPECT_EQ(Only<WriteFriendship>(next).version, 101u);
  for (uint64_t attempt = 1; attempt < 10; ++attempt) {
    const FriendshipWritten overtaken{0, {}, asked, false, true};
    (void)Only<ReadFriendship>(cancel.On(overtaken));
    EXPECT_THAT(cancel.On(FriendshipRead{0, {}, asked}), SizeIs(2)) << "it may begin or end now";
    const auto write = Only<WriteFriendship>(Announced(cancel, 0, 0));
    EXPECT_EQ(write.version, 100 + (1u << attempt));
  }
  EXPECT_THAT(cancel.On(FriendshipWritten{0, {}, asked, false, true}), SizeIs(0));
  EXPECT_TRUE(cancel.result().status.later());
}

TEST_F(FriendshipRunTest, WhatIsForbiddenByThenIsRefusedByTheRuleAsItIsWritten) {
  FriendshipRun cancel(FriendAction::kCancel, kFive, kSeven, 20);
  (void)cancel.On(FriendshipRead{0, {}, {FriendState::kAsked, kFive, 9}});
  (void)cancel.On(FriendshipWritten{0, {}, friends_, false});
  EXPECT_TRUE(cancel.result().status.never());
  EXPECT_EQ(cancel.result().now.state, FriendState::kFriends);
}

TEST_F(FriendshipRunTest, ALimitEndsItBeforeAnythingIsAnnounced) {
  FriendshipRun accept(FriendAction::kAccept, kFive, kSeven, 20);
  EXPECT_THAT(accept.On(FriendshipRead{0, {}, {FriendState::kAsked, kSeven, 9}}), SizeIs(2));
  EXPECT_THAT(accept.On(RoomAsked{0, Status::Never("full"), kSeven}), SizeIs(0));
  EXPECT_TRUE(accept.done());
  EXPECT_THAT(accept.On(RoomAsked{}), SizeIs(0)) << "the other edge's reply";
  EXPECT_EQ(accept.result().over_limit, kSeven);
  EXPECT_EQ(accept.result().status.message, "full");
}

}  // namespace
}  // namespace fanline
