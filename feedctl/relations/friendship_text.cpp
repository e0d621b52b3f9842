#include "feedctl/relations/friendship_text.h"

namespace fanline::feedctl {
namespace {

std::string User(UserId user) { return "user " + ToString(user); }

}  // namespace

std::string Standing(const Friendship& now, UserId one, UserId other) {
  const UserId asked = now.asked_by == one ? other : one;
  const std::string both = "users " + ToString(one) + " and " + ToString(other) + " are ";
  switch (now.state) {
    case FriendState::kNone:
      return both + "no friends, and neither has asked";
    case FriendState::kAsked:
      return User(now.asked_by) + " has asked " + User(asked);
    case FriendState::kFriends:
      return both + "friends";
    case FriendState::kRefused:
      return User(asked) + " has refused " + User(now.asked_by);
    case FriendState::kCancelled:
      return User(now.asked_by) + " no longer asks " + User(asked);
    case FriendState::kRemoved:
      return both + "no longer friends";
  }
  return both + "in an unknown state";
}

}  // namespace fanline::feedctl
