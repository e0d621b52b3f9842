#include "fanline/model/member.h"

#include <gtest/gtest.h>

#include <string>

namespace fanline {
namespace {

using Kind = Member::Kind;

std::string Text(std::string_view text) { return std::string(text); }

TEST(Member, OfAnItemIsTheDecimalPostId) {
  EXPECT_EQ(Text(MemberText(PostId{7})), "7");
  EXPECT_EQ(Text(MemberText(PostId{UINT64_MAX - 1})), "18446744073709551614");
}

// What is written is what timelines in Redis hold.
TEST(Member, EveryKindIsReadAsItWasWritten) {
  const struct {
    std::string text;
    Kind kind;
    uint64_t author, post;
  } all[] = {
      {Text(MemberText::OfMark(UserId{9})), Kind::kMark, 9, 0},
      {Text(MemberText::OfMark(UserId{UINT64_MAX - 1})), Kind::kMark, UINT64_MAX - 1, 0},
      {Text(kMoreMarksMember), Kind::kMoreMarks, 0, 0},
      {Text(kHeadMember), Kind::kHead, 0, 0},
      {Text(MemberText(PostId{10})), Kind::kItem, 0, 10},
      {Text(kFloorMember), Kind::kFloor, 0, 0},
      {RebuildMember("token"), Kind::kRebuild, 0, 0},
      {Text(MemberText::OfRemoval(PostId{UINT64_MAX - 1})), Kind::kRemoval, 0, UINT64_MAX - 1}};
  for (const auto& [text, kind, author, post] : all) {
    const auto member = ParseMember(text);
    ASSERT_TRUE(member) << text;
    EXPECT_EQ(member->kind, kind) << text;
    EXPECT_EQ(Raw(member->author), author) << text;
    EXPECT_EQ(Raw(member->post), post) << text;
    EXPECT_EQ(ParseItem(text).has_value(), kind == Kind::kItem) << text;
  }
}

TEST(Member, WhatIsNoneIsNotRead) {
  for (const char* none :
       {"", "0", "07", "-1", "1x", "AB", "A0", "X", "Xx", "B", "TT", "FF", "q"}) {
    EXPECT_FALSE(ParseMember(none)) << none;
  }
}

// Redis sorts members of one score by their bytes. The scripts tell a timeline's state by the last.
TEST(Member, KindsOfOneScoreSortAsTheScriptsNeedIt) {
  EXPECT_LT(Text(MemberText::OfMark(UserId{UINT64_MAX - 1})), kHeadMember);
  EXPECT_LT(kMoreMarksMember, kHeadMember);
  EXPECT_LT(Text(MemberText(PostId{UINT64_MAX / 2})), kFloorMember);  // 9223372036854775807
  EXPECT_LT(RebuildMember("z"), Text(MemberText::OfRemoval(PostId{1})));
  EXPECT_LE(Text(MemberText(kFirstOfMoment)), Text(MemberText(PostId{10})));
}

TEST(Member, AScoreIsMinusTheTime) {
  EXPECT_EQ(ScoreOf(1'700'000'000'000), -1'700'000'000'000);
  EXPECT_EQ(TimeOfScore("-1700000000000"), 1'700'000'000'000);
  EXPECT_EQ(TimeOfScore("-9007199254740991"), kMaxCreatedAt);
  EXPECT_EQ(TimeOfScore("-1.7e+12"), 1'700'000'000'000);
  EXPECT_EQ(TimeOfScore("inf"), kNoFloor);
  EXPECT_EQ(TimeOfScore("-inf"), std::nullopt);
  for (const char* none : {"x", "", "nan", "-9007199254740992", "-9223372036854775808", "1e300"}) {
    EXPECT_EQ(TimeOfScore(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace fanline
