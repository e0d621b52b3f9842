#include "feedctl/relations/friendship_text.h"

#include <gtest/gtest.h>

namespace fanline::feedctl {
namespace {

constexpr UserId kAnn{5}, kBob{9};

TEST(FriendshipText, SaysTheSameFromBothSides) {
  const std::pair<FriendState, std::string> kTable[] = {
      {FriendState::kAsked, "user 5 has asked user 9"},
      {FriendState::kRefused, "user 9 has refused user 5"},
      {FriendState::kCancelled, "user 5 no longer asks user 9"},
  };
  for (const auto& [state, text] : kTable) {
    const Friendship now{.state = state, .asked_by = kAnn, .ver = 1};
    EXPECT_EQ(Standing(now, kAnn, kBob), text);
    EXPECT_EQ(Standing(now, kBob, kAnn), text);
  }
  EXPECT_EQ(Standing({.state = FriendState::kFriends, .asked_by = kBob, .ver = 1}, kAnn, kBob),
            "users 5 and 9 are friends");
  EXPECT_EQ(Standing({}, kAnn, kBob), "users 5 and 9 are no friends, and neither has asked");
}

}  // namespace
}  // namespace fanline::feedctl
