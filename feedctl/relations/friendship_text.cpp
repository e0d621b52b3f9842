#include "feedctl/relations/friendship_text.h"

#include <vector>

namespace fanline::feedctl {
namespace {

std::string User(UserId user) { return "user " + ToString(user); }

// What the rule lets `who` do that changes something. A request that answers a request is left out:
// it does the same as `accept`.
std::vector<std::string> StepsOf(const Friendship& now, UserId who) {
  std::vector<std::string> steps;
  for (const FriendAction action : kFriendActions) {
    if (action == FriendAction::kRequest && now.state == FriendState::kAsked) continue;
    if (Decide(now, action, who).changes) steps.emplace_back(NameOf(action));
  }
  return steps;
}

// "cancel", "accept or refuse"
std::string Choice(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& step : steps) text += (text.empty() ? "" : " or ") + step;
  return text;
}

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

std::string NextSteps(const Friendship& now, UserId one, UserId other) {
  const auto of_one = StepsOf(now, one), of_other = StepsOf(now, other);
  if (of_one == of_other) return "either may " + Choice(of_one);
  return User(one) + " may " + Choice(of_one) + "; " + User(other) + " may " + Choice(of_other);
}

}  // namespace fanline::feedctl
