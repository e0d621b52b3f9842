// Friendship by consent: what two users have agreed on, and the rule by which one of them changes
// it. The row (table friend_request) is the truth; the two edges of a friendship follow it as
// ordinary changes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fanline/model/ids.h"

namespace fanline {

enum class FriendState {  // the numbers are stored
  kNone = 0,
  kAsked = 1,
  kFriends = 2,
  kRefused = 3,
  kCancelled = 4,
  kRemoved = 5,
};

enum class FriendAction { kRequest, kAccept, kRefuse, kCancel, kRemove };

inline constexpr FriendAction kFriendActions[] = {FriendAction::kRequest, FriendAction::kAccept,
                                                  FriendAction::kRefuse, FriendAction::kCancel,
                                                  FriendAction::kRemove};

// Whether a change between the two also changes the edges.
constexpr bool BeginsOrEnds(FriendState before, FriendState after) {
  return (before == FriendState::kFriends) != (after == FriendState::kFriends);
}

const char* NameOf(FriendState state);  // "none", "requested", "friends", ...
const char* NameOf(FriendAction action);
std::optional<FriendAction> ParseFriendAction(std::string_view text);

struct Friendship {
  FriendState state = FriendState::kNone;
  UserId asked_by{};  // who asked last; none: nobody ever did
  uint64_t ver = 0;   // grows with every change
};

struct FriendStep {
  FriendState state = FriendState::kNone;  // with asked_by: the friendship after the step
  UserId asked_by{};
  bool changes = false;           // false: it is so already, or not allowed
  const char* refusal = nullptr;  // why it is not allowed
};

// The step when `who`, one of the two users, takes `action`. Repeating an action is no error:
// callers repeat a call whose answer was lost. Two users who ask each other become friends: both
// have said that they want to be.
FriendStep Decide(const Friendship& now, FriendAction action, UserId who);

}  // namespace fanline
