#include "fanline/model/friendship.h"

namespace fanline {
namespace {

FriendStep To(FriendState state, UserId asked_by) {
  return {.state = state, .asked_by = asked_by, .changes = true};
}

FriendStep Stays(const Friendship& now) { return {.state = now.state, .asked_by = now.asked_by}; }

FriendStep Refused(const Friendship& now, const char* why) {
  return {.state = now.state, .asked_by = now.asked_by, .refusal = why};
}

FriendStep Request(const Friendship& now, UserId who) {
  if (now.state == FriendState::kFriends) return Stays(now);
  if (now.state != FriendState::kAsked) return To(FriendState::kAsked, who);
  return now.asked_by == who ? Stays(now) : To(FriendState::kFriends, now.asked_by);
}

// Accept and refuse: only the user who was asked answers.
FriendStep Answer(const Friendship& now, UserId who, FriendState answer) {
  if (now.state == answer) return Stays(now);
  if (now.state != FriendState::kAsked) return Refused(now, "there is no request to answer");
  if (now.asked_by == who) return Refused(now, "a request is answered by the one who was asked");
  return To(answer, now.asked_by);
}

FriendStep Cancel(const Friendship& now, UserId who) {
  if (now.state == FriendState::kCancelled) return Stays(now);
  if (now.state != FriendState::kAsked) return Refused(now, "there is no request to cancel");
  if (now.asked_by != who) return Refused(now, "a request is cancelled by the one who asked");
  return To(FriendState::kCancelled, who);
}

FriendStep Remove(const Friendship& now) {
  if (now.state == FriendState::kRemoved) return Stays(now);
  if (now.state != FriendState::kFriends) return Refused(now, "they are not friends");
  return To(FriendState::kRemoved, now.asked_by);
}

}  // namespace

const char* NameOf(FriendState state) {
  constexpr const char* kNames[] = {"none",    "requested", "friends",
                                    "refused", "cancelled", "removed"};
  const auto index = static_cast<size_t>(state);  // as the row says
  return index < std::size(kNames) ? kNames[index] : kNames[0];
}

const char* NameOf(FriendAction action) {
  constexpr const char* kNames[] = {"request", "accept", "refuse", "cancel", "remove"};
  return kNames[static_cast<size_t>(action)];
}

std::optional<FriendAction> ParseFriendAction(std::string_view text) {
  for (const FriendAction action : kFriendActions) {
    if (text == NameOf(action)) return action;
  }
  return std::nullopt;
}

FriendStep Decide(const Friendship& now, FriendAction action, UserId who) {
  switch (action) {
    case FriendAction::kRequest:
      return Request(now, who);
    case FriendAction::kAccept:
      return Answer(now, who, FriendState::kFriends);
    case FriendAction::kRefuse:
      return Answer(now, who, FriendState::kRefused);
    case FriendAction::kCancel:
      return Cancel(now, who);
    case FriendAction::kRemove:
      return Remove(now);
  }
  return Refused(now, "no such action");
}

}  // namespace fanline
