// The codec of a timeline's members: what their text is, how they sort, their scores, and how both
// are read. This is its only place in C++. The scripts have theirs in the head that they share
// (schemas/redis/timeline.lua); tests/unit/tidy.py finds whoever else writes or reads a member.
//
// Redis sorts members by score, then by their bytes:
//   mark      A<author>, or A: there are more   -inf
//   mutes     M<version>                        -inf
//   head      T                                 -inf
//   item      the decimal post id               minus created_at
//   floor     F                                 minus its time; +inf: nothing older exists
//   rebuild   B:<token>                         +inf
//   removal   X<item>                           +inf
// An item's text begins with a byte that sorts in front of F, and is no letter of the others. SQL
// sorts posts by it too (author_post.member).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fanline/base/number.h"
#include "fanline/base/time.h"
#include "fanline/model/ids.h"

namespace fanline {

// Created_at must be exact as a Redis score (a double) and positive.
inline constexpr UnixMs kMaxCreatedAt = (int64_t{1} << 53) - 1;

// A timeline is complete for times strictly newer than its floor; kNoFloor = nothing older exists.
using Floor = UnixMs;
inline constexpr Floor kNoFloor = 0;  // below every valid created_at, so "newer than" just works

// ---- text -----------------------------------------------------------------------------------

// On the stack: one is made for each item of each call.
class MemberText {
 public:
  // Of an item.
  explicit MemberText(PostId post) { Append(IdText(Raw(post))); }
  static MemberText OfMark(UserId author) { return MemberText("A", IdText(Raw(author))); }
  static MemberText OfMutes(uint64_t version) { return MemberText("M", IdText(version)); }
  static MemberText OfRemoval(PostId post) { return MemberText("X", MemberText(post)); }

  operator std::string_view() const { return {text_, size_}; }

 private:
  MemberText(std::string_view kind, std::string_view of) {
    Append(kind);
    Append(of);
  }
  void Append(std::string_view part) { size_ += part.copy(text_ + size_, sizeof text_ - size_); }

  char text_[21];  // a letter and 20 digits
  size_t size_ = 0;
};

inline constexpr std::string_view kHeadMember = "T";
inline constexpr std::string_view kFloorMember = "F";
inline constexpr std::string_view kMoreMarksMember = "A";
inline std::string RebuildMember(std::string_view token) { return "B:" + std::string(token); }

// No item of the same moment sorts in front of it.
inline constexpr PostId kFirstOfMoment{1};

// ---- score ----------------------------------------------------------------------------------

inline constexpr std::string_view kScoreOfMarks = "-inf";  // of the mutes and of the head
inline constexpr std::string_view kScoreOfNoFloor = "+inf";
// Of an item, or of a floor that is not kNoFloor.
constexpr int64_t ScoreOf(UnixMs time) { return -time; }

// The time behind the score of an item or a floor. Nothing for a score that is no exact time.
inline std::optional<UnixMs> TimeOfScore(std::string_view score) {
  if (score == "inf") return kNoFloor;
  const auto number = ParseNumber<double>(score);  // "-1.7e+17", should Redis ever write it so
  const bool exact = number && std::abs(*number) <= static_cast<double>(kMaxCreatedAt);  // no NaN
  if (!exact) return std::nullopt;
  return -static_cast<UnixMs>(*number);
}

// ---- reading --------------------------------------------------------------------------------

struct Member {
  enum class Kind { kMark, kMoreMarks, kMutes, kHead, kItem, kFloor, kRebuild, kRemoval };
  Kind kind{};
  UserId author{};       // of a mark
  PostId post{};         // of an item or a removal
  uint64_t version = 0;  // of the reader's mutes
};

// Of an item; nothing for every other member.
inline std::optional<PostId> ParseItem(std::string_view text) {
  const auto raw = ParseId(text);
  return raw ? std::optional(PostId{*raw}) : std::nullopt;
}
// Nothing: no member of a timeline.
inline std::optional<Member> ParseMember(std::string_view text) {
  using Kind = Member::Kind;
  if (const auto post = ParseItem(text)) return Member{.kind = Kind::kItem, .post = *post};
  if (text == kHeadMember) return Member{.kind = Kind::kHead};
  if (text == kFloorMember) return Member{.kind = Kind::kFloor};
  if (text == kMoreMarksMember) return Member{.kind = Kind::kMoreMarks};
  if (text.starts_with("B:")) return Member{.kind = Kind::kRebuild};
  if (text.starts_with('A')) {
    const auto author = ParseId(text.substr(1));
    if (author) return Member{.kind = Kind::kMark, .author = UserId{*author}};
  }
  if (text.starts_with('M')) {
    const auto version = ParseId(text.substr(1));
    if (version) return Member{.kind = Kind::kMutes, .version = *version};
  }
  if (text.starts_with('X')) {
    const auto post = ParseItem(text.substr(1));
    if (post) return Member{.kind = Kind::kRemoval, .post = *post};
  }
  return std::nullopt;
}

}  // namespace fanline
