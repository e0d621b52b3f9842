#include "fanline/model/friendship.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

using enum FriendState;
using enum FriendAction;

constexpr UserId kAnn{1}, kBob{2};

struct Line {
  FriendState before;  // asked by Ann
  FriendAction action;
  UserId who;
  FriendState after;
  enum { kChanges, kStays, kRefusedWith } answer;
};

TEST(Friendship, EveryStepIsTakenLeftOrRefused) {
  const Line kTable[] = {
      {kNone, kRequest, kAnn, kAsked, Line::kChanges},
      {kNone, kAccept, kBob, kNone, Line::kRefusedWith},
      {kNone, kRefuse, kBob, kNone, Line::kRefusedWith},
      {kNone, kCancel, kAnn, kNone, Line::kRefusedWith},
      {kNone, kRemove, kAnn, kNone, Line::kRefusedWith},
      {kAsked, kRequest, kAnn, kAsked, Line::kStays},
      {kAsked, kRequest, kBob, kFriends, Line::kChanges},
      {kAsked, kAccept, kBob, kFriends, Line::kChanges},
      {kAsked, kAccept, kAnn, kAsked, Line::kRefusedWith},
      {kAsked, kRefuse, kBob, kRefused, Line::kChanges},
      {kAsked, kRefuse, kAnn, kAsked, Line::kRefusedWith},
      {kAsked, kCancel, kAnn, kCancelled, Line::kChanges},
      {kAsked, kCancel, kBob, kAsked, Line::kRefusedWith},
      {kAsked, kRemove, kBob, kAsked, Line::kRefusedWith},
      {kFriends, kRequest, kBob, kFriends, Line::kStays},
      {kFriends, kAccept, kBob, kFriends, Line::kStays},
      {kFriends, kRefuse, kBob, kFriends, Line::kRefusedWith},
      {kFriends, kCancel, kAnn, kFriends, Line::kRefusedWith},
      {kFriends, kRemove, kAnn, kRemoved, Line::kChanges},
      {kFriends, kRemove, kBob, kRemoved, Line::kChanges},
      {kRefused, kRefuse, kBob, kRefused, Line::kStays},
      {kRefused, kAccept, kBob, kRefused, Line::kRefusedWith},
      {kRefused, kRequest, kAnn, kAsked, Line::kChanges},
      {kCancelled, kCancel, kAnn, kCancelled, Line::kStays},
      {kCancelled, kAccept, kBob, kCancelled, Line::kRefusedWith},
      {kRemoved, kRemove, kBob, kRemoved, Line::kStays},
      {kRemoved, kRequest, kAnn, kAsked, Line::kChanges},
  };
  for (const Line& line : kTable) {
    const FriendStep step = Decide({line.before, kAnn, 7}, line.action, line.who);
    const auto name = ::testing::Message()
                      << "state " << static_cast<int>(line.before) << ", action "
                      << static_cast<int>(line.action) << " of " << ToString(line.who);
    EXPECT_EQ(step.state, line.after) << name;
    EXPECT_EQ(step.changes, line.answer == Line::kChanges) << name;
    EXPECT_EQ(step.refusal != nullptr, line.answer == Line::kRefusedWith) << name;
  }
}

TEST(Friendship, WhoeverAsksLastIsTheOneWhoAsked) {
  EXPECT_EQ(Decide({kRemoved, kAnn, 7}, kRequest, kBob).asked_by, kBob);
  EXPECT_EQ(Decide({kAsked, kAnn, 7}, kAccept, kBob).asked_by, kAnn);
  EXPECT_EQ(Decide({kAsked, kAnn, 7}, kRequest, kBob).asked_by, kAnn);
}

TEST(Friendship, EveryActionIsReadByItsName) {
  for (const FriendAction action : kFriendActions) {
    EXPECT_EQ(ParseFriendAction(NameOf(action)), action);
  }
  for (const char* text : {"", "Request", "accept ", "none", "unfriend"}) {
    EXPECT_EQ(ParseFriendAction(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fanline
