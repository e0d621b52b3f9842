#include "fanline/model/member.h"

#include <gtest/gtest.h>

#include <string>

namespace fanline {
namespace {

using Kind = Member::Kind;

std::string Text(std::string_view text) { return std::string(text); }

using namespace std::string_literals;

constexpr uint64_t kLast = UINT64_MAX - 1;  // the last valid id

Item PostBy(uint64_t post, uint64_t author) { return {PostId{post}, 0, UserId{author}}; }
Item RepostBy(uint64_t post, uint64_t author, uint64_t original, uint64_t of) {
  return {PostId{post}, 0, UserId{author}, {PostId{original}, UserId{of}}};
}

TEST(Member, OfAPostIsItsIdsComplementAndItsAuthorInAsFewBytesAsItHas) {
  EXPECT_EQ(Text(MemberText(PostBy(1, 7))), "\1\xff\xff\xff\xff\xff\xff\xff\xfe\7");
  EXPECT_EQ(Text(MemberText(PostBy(0x0102030405060708, 0x0100))),
            "\1\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\1\0"s);
  EXPECT_EQ(Text(MemberText(PostBy(kLast, kLast))),
            "\1\0\0\0\0\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xfe"s);
  for (int bytes = 1; bytes <= 8; ++bytes) {
    const uint64_t least = uint64_t{1} << (8 * (bytes - 1));
    EXPECT_EQ(Text(MemberText(PostBy(5, least))).size(), 9u + bytes);
  }
}

TEST(Member, OfARepostNamesItsKindItsAuthorAndItsOriginalWithTheOriginalsAuthor) {
  EXPECT_EQ(Text(MemberText(RepostBy(1, 7, 0x0102030405060708, 0x0900))),
            "\1\xff\xff\xff\xff\xff\xff\xff\xfe\0\x11\7\1\2\3\4\5\6\7\10\x09\0"s);
  EXPECT_EQ(Text(MemberText(RepostBy(kLast, kLast, kLast, kLast))).size(), 35u);
}

TEST(Member, OfAPostEndsWithItsAuthorAsSyncsNameHim) {
  for (const uint64_t author : {uint64_t{1}, uint64_t{255}, uint64_t{256}, kLast}) {
    EXPECT_TRUE(Text(MemberText(PostBy(5, author))).substr(9) ==
                std::string_view(MemberText::OfAuthor(UserId{author})));
  }
}

TEST(MemberDeathTest, AnItemWithoutItsAuthorOrItsPostCannotBeWritten) {
  EXPECT_DEATH(MemberText(PostBy(5, 0)), "an item is written with its post and its author");
  EXPECT_DEATH(MemberText::OfRemoved({PostId{0}, 1, UserId{5}}),
               "an item is written with its post");
}

// What is written is what timelines in Redis hold.
TEST(Member, EveryKindIsReadAsItWasWritten) {
  const struct {
    std::string text;
    Kind kind;
    Mark mark;
    Item item;
  } all[] = {
      {Text(MemberText::OfMark({UserId{9}, false})), Kind::kMark, {UserId{9}, false}, {}},
      {Text(MemberText::OfMark({UserId{9}, true})), Kind::kMark, {UserId{9}, true}, {}},
      {Text(MemberText::OfMark({UserId{kLast}, true})), Kind::kMark, {UserId{kLast}, true}, {}},
      {Text(kMoreMarksMember), Kind::kMoreMarks, {}, {}},
      {Text(kHeadMember), Kind::kHead, {}, {}},
      {Text(MemberText(PostBy(10, 9))), Kind::kItem, {}, PostBy(10, 9)},
      {Text(MemberText(PostBy(1, kLast))), Kind::kItem, {}, PostBy(1, kLast)},
      {Text(MemberText(PostBy(kLast, 1))), Kind::kItem, {}, PostBy(kLast, 1)},
      {Text(MemberText(PostBy(1, 256))), Kind::kItem, {}, PostBy(1, 256)},
      {Text(MemberText(RepostBy(1, 256, kLast, 9))), Kind::kItem, {}, RepostBy(1, 256, kLast, 9)},
      {Text(MemberText(RepostBy(kLast, kLast, 1, kLast))),
       Kind::kItem,
       {},
       RepostBy(kLast, kLast, 1, kLast)},
      {Text(kFloorMember), Kind::kFloor, {}, {}},
      {RebuildMember("token"), Kind::kRebuild, {}, {}},
      {Text(MemberText::OfRemoval(MemberText(PostBy(kLast, 9)))),
       Kind::kRemoval,
       {},
       PostBy(kLast, 9)},
      {Text(MemberText::OfRemoval(MemberText(RepostBy(kLast, kLast, kLast, kLast)))),
       Kind::kRemoval,
       {},
       RepostBy(kLast, kLast, kLast, kLast)}};
  for (const auto& [text, kind, mark, item] : all) {
    const auto member = ParseMember(text);
    ASSERT_TRUE(member) << text;
    EXPECT_EQ(member->kind, kind) << text;
    EXPECT_EQ(member->mark, mark) << text;
    EXPECT_EQ(member->item, item) << text;
    EXPECT_EQ(ParseItem(text).has_value(), kind == Kind::kItem) << text;
  }
}

TEST(Member, TheVersionOfMutesStandsBetweenMarksAndTheHead) {
  for (const uint64_t version : {uint64_t{1}, kLast}) {
    const auto member = ParseMember(MemberText::OfMutes(version));
    ASSERT_TRUE(member);
    EXPECT_EQ(member->kind, Kind::kMutes);
    EXPECT_EQ(member->version, version);
  }
  for (const char* text : {"M", "M0", "M01", "Mx", "M-1"}) EXPECT_FALSE(ParseMember(text)) << text;
  EXPECT_LT(Text(MemberText::OfMark({UserId{kLast}})), Text(MemberText::OfMutes(1)));
  EXPECT_LT(Text(MemberText::OfMutes(kLast)), kHeadMember);
}

const std::string kOfPost5 = "\1\xff\xff\xff\xff\xff\xff\xff\xfa";

TEST(Member, WhatIsNoneIsNotRead) {
  const std::string eight = "\xff\xff\xff\xff\xff\xff\xff\xff";
  for (const std::string& none : {""s,
                                  "0"s,
                                  "7"s,
                                  "10"s,
                                  "-1"s,
                                  "1x"s,
                                  "AB"s,
                                  "A0"s,
                                  "A-"s,
                                  "A-0"s,
                                  "A--1"s,
                                  "X"s,
                                  "Xx"s,
                                  "X7"s,
                                  "B"s,
                                  "TT"s,
                                  "FF"s,
                                  "q"s,
                                  "\1"s,
                                  kOfPost5,  // without an author
                                  kOfPost5 + "\0"s,
                                  kOfPost5 + "\0\7"s,  // with a leading zero
                                  kOfPost5 + eight,
                                  kOfPost5 + "\7" + eight,           // 2^64-1; too long
                                  "\1" + eight + "\7",               // post 0
                                  "\1\0\0\0\0\0\0\0\0\7"s,           // post 2^64-1
                                  "\2" + kOfPost5.substr(1) + "\7",  // another letter
                                  kOfPost5 + "\0\1\7"s,              // a post spelled as others are
                                  kOfPost5 + "\0\x10"s,
                                  kOfPost5 + "\0\x12\7"s,  // another kind without its whole author
                                  kOfPost5 + "\0\x12\0\7"s,
                                  kOfPost5 + "\0\x19\1"s + eight,
                                  kOfPost5 + "\0\x11\7"s,  // a repost without its original
                                  kOfPost5 + "\0\x11\7\0\0\0\0\0\0\0\1"s,
                                  kOfPost5 + "\0\x11\7\0\0\0\0\0\0\0\0\7"s,
                                  kOfPost5 + "\0\x11\7\0\0\0\0\0\0\0\1\0\7"s}) {
    EXPECT_FALSE(ParseMember(none)) << none;
    EXPECT_FALSE(ParseItem(none)) << none;
  }
}

TEST(Member, OfAnItemWithoutItsTimeWhateverItsAuthorHasInItsPlaceIsRemoved) {
  Item repost = RepostBy(5, 0x0900, 6, 7);
  EXPECT_EQ(Text(MemberText::OfRemoved(repost)), kOfPost5 + "\0\2\x09\0"s);
  EXPECT_EQ(Text(MemberText::OfRemoval(MemberText::OfRemoved(repost))),
            "X" + kOfPost5 + "\0\2\x09\0"s);
  repost.created_at = 1;
  EXPECT_EQ(Text(MemberText::OfRemoved(repost)), Text(MemberText(repost)));
  EXPECT_FALSE(ParseMember(kOfPost5 + "\0\2\x09\0"s)) << "no timeline holds it but as a removal";
  ASSERT_TRUE(ParseMember("X" + kOfPost5 + "\0\2\x09\0"s));
  EXPECT_EQ(ParseMember("X" + kOfPost5 + "\0\2\x09\0"s)->kind, Kind::kRemoval);
  for (const std::string& none : {kOfPost5 + "\0\2\x09"s, kOfPost5 + "\0\1\x09\0"s,
                                  kOfPost5 + "\0\1\0"s, kOfPost5 + "\0\0"s}) {
    EXPECT_FALSE(ParseMember("X" + none));
  }
}

TEST(Member, AnItemOfAnotherKindIsKnownAsSuchAndNotShown) {
  for (const std::string& other : {kOfPost5 + "\0\x21\7"s, kOfPost5 + "\0\x21\7and what it adds"s,
                                   kOfPost5 + "\0\xf8\1\2\3\4\5\6\7\0"s}) {
    ASSERT_TRUE(ParseMember(other));
    EXPECT_EQ(ParseMember(other)->kind, Kind::kUnknownItem);
    EXPECT_FALSE(ParseItem(other));
    ASSERT_TRUE(ParseMember("X" + other));
    EXPECT_EQ(ParseMember("X" + other)->kind, Kind::kRemoval);
  }
}

// Redis sorts members of one score by their bytes. The scripts tell a timeline's state by the last.
TEST(Member, KindsOfOneScoreSortAsTheScriptsNeedIt) {
  EXPECT_LT(Text(MemberText::OfMark({UserId{kLast}})), kHeadMember);
  EXPECT_LT(Text(MemberText::OfMark({UserId{kLast}, true})), kHeadMember);
  EXPECT_LT(kMoreMarksMember, kHeadMember);
  EXPECT_LT(Text(MemberText(PostBy(1, kLast))), kFloorMember);
  EXPECT_LT(RebuildMember("z"), Text(MemberText::OfRemoval(MemberText(PostBy(kLast, 1)))));
}

TEST(Member, OfOneMomentTheHigherIdComesFirstBehindItsPlace) {
  const uint64_t ids[] = {kLast, uint64_t{1} << 63, 256, 255, 10, 9, 1};
  std::string before;
  for (const uint64_t id : ids) {
    const std::string place(MemberText::OfPlace(PostId{id}));
    EXPECT_LT(before, place);
    for (const uint64_t author : {uint64_t{1}, kLast}) {
      before = Text(MemberText(PostBy(id, author)));
      EXPECT_LT(place, before);
    }
  }
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
