// The codec of a timeline's members: what their bytes are, how they sort, their scores, and how
// both are read. This is its only place in C++. The scripts have theirs in the head that they share
// (schemas/redis/timeline.lua); tests/unit/tidy.py finds whoever else writes or reads a member.
//
// Redis sorts members by score, then by their bytes:
//   mark      A<author>, or A: there are more   -inf
//             A-<author>: without the reposts   -inf
//   mutes     M<version>                        -inf
//   head      T                                 -inf
//   item      see below                         minus created_at
//   floor     F                                 minus its time; +inf: nothing older exists
//   rebuild   B:<token>                         +inf
//   removal   X<item>                           +inf
// Authors of marks and tokens are text. An item is binary:
//   post      01, ~post, author
//   others    01, ~post, 00, kind * 16 + length of the author, author, and what the kind adds:
//   repost    kind 1; the original in 8 bytes, its author
// What is to be removed may be named as the other kinds are, with kind 0, which no item has: then
// it is what this author has in this place, of whatever kind.
// 01 sorts in front of F and is no letter of the others. ~post is the complement of the id in 8
// bytes, big endian: of one moment the higher id comes first, whatever its kind. The author is big
// endian without leading zero bytes, so that no author begins with 00. An item is spelled in one
// way only, for ever. Programs leave items of a kind that they do not know where they are, and show
// them to nobody.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fanline/base/check.h"
#include "fanline/base/number.h"
#include "fanline/base/time.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/model/mark.h"

namespace fanline {

// ---- bytes ----------------------------------------------------------------------------------

// On the stack: one is made for each item of each call.
class MemberText {
 public:
  // Of an item, which must have its post and its author, and a repost both of its original. Its
  // created_at is not looked at.
  explicit MemberText(const Item& item) {
    FANLINE_CHECK(IsValidId(Raw(item.post)) && IsValidId(Raw(item.author)),
                  "an item is written with its post and its author");
    FANLINE_CHECK(!item.original ||
                      (IsValidId(Raw(item.original.post)) && IsValidId(Raw(item.original.author))),
                  "a repost is written with its original's id and author");
    Append(OfPlace(item.post));
    const MemberText author = OfAuthor(item.author);
    if (item.original) {
      AppendBytes(static_cast<uint64_t>(item.kind()) * 16 + author.size_, 2);
      Append(author);
      AppendBytes(Raw(item.original.post), 8);
      Append(OfAuthor(item.original.author));
    } else {
      Append(author);
    }
  }
  static MemberText OfMark(const Mark& mark) {
    return OfNumber(mark.no_reposts ? "A-" : "A", Raw(mark.author));
  }
  static MemberText OfMutes(uint64_t version) { return OfNumber("M", version); }
  // What to remove: the item or, if its time is not known, and so nor is its kind, whatever its
  // author has in its place.
  static MemberText OfRemoved(const Item& item) {
    return item.created_at != 0 ? MemberText(item) : OfAnyKind(item);
  }
  static MemberText OfAnyKind(const Item& item) {
    MemberText text;
    text.Append(OfPlace(item.post));
    const MemberText author = OfAuthor(item.author);
    text.AppendBytes(author.size_, 2);
    text.Append(author);
    return text;
  }
  // The record of a removal of what OfRemoved or OfAnyKind names.
  static MemberText OfRemoval(std::string_view removed) {
    MemberText text;
    text.Append("X");
    text.Append(removed);
    return text;
  }
  // As items have it.
  static MemberText OfAuthor(UserId author) {
    MemberText text;
    int length = 8;
    while (length > 0 && Raw(author) >> (8 * (length - 1)) == 0) --length;
    text.AppendBytes(Raw(author), length);
    return text;
  }
  // How items of this post begin: sorts behind all that come before it, in front of itself.
  static MemberText OfPlace(PostId post) {
    MemberText text;
    text.Append("\1");
    text.AppendBytes(~Raw(post), 8);
    return text;
  }

  operator std::string_view() const { return {text_, size_}; }

 private:
  MemberText() = default;
  static MemberText OfNumber(std::string_view letter, uint64_t number) {
    MemberText text;
    text.Append(letter);
    text.Append(IdText(number));
    return text;
  }
  void Append(std::string_view part) { size_ += part.copy(text_ + size_, sizeof text_ - size_); }
  void AppendBytes(uint64_t number, int bytes) {
    while (bytes-- > 0) text_[size_++] = static_cast<char>(number >> (8 * bytes));
  }

  char text_[36];  // a removal of a repost; letters and 20 digits are shorter
  size_t size_ = 0;
};

inline constexpr std::string_view kHeadMember = "T";
inline constexpr std::string_view kFloorMember = "F";
inline constexpr std::string_view kMoreMarksMember = "A";
inline std::string RebuildMember(std::string_view token) { return "B:" + std::string(token); }

// ---- score ----------------------------------------------------------------------------------

inline constexpr std::string_view kScoreOfMarks = "-inf";  // of marks, of the mutes and of the head
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
  enum class Kind {
    kMark,
    kMoreMarks,
    kMutes,
    kHead,
    kItem,
    kUnknownItem,
    kFloor,
    kRebuild,
    kRemoval
  };
  Kind kind{};
  Mark mark{};           // of a kMark
  Item item{};           // an item or a removal; without its time. Of a kUnknownItem, and of the
                         // removal of one or of any kind: not set
  uint64_t version = 0;  // of the reader's mutes
};

inline uint64_t NumberOfBytes(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}
// An author's bytes; nothing if they are not the one spelling of a valid id.
inline std::optional<UserId> ParseAuthor(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 8 || bytes.front() == 0) return std::nullopt;
  const uint64_t author = NumberOfBytes(bytes);
  return IsValidId(author) ? std::optional(UserId{author}) : std::nullopt;
}
// The member of an item, of a known kind or not.
inline std::optional<Member> ParseAnyItem(std::string_view text) {
  constexpr size_t kPlace = 9;
  if (text.size() <= kPlace || text.front() != 1) return std::nullopt;
  const PostId post{~NumberOfBytes(text.substr(1, 8))};
  if (!IsValidId(Raw(post))) return std::nullopt;
  text.remove_prefix(kPlace);
  if (text.front() != 0) {
    const auto author = ParseAuthor(text);
    if (!author) return std::nullopt;
    return Member{Member::Kind::kItem, {}, {post, 0, *author}};
  }
  if (text.size() < 2) return std::nullopt;
  const auto shape = static_cast<unsigned char>(text[1]);
  const size_t length = shape % 16;
  text.remove_prefix(2);
  const auto author = text.size() >= length ? ParseAuthor(text.substr(0, length)) : std::nullopt;
  if (!author || shape / 16 == static_cast<unsigned>(ItemKind::kPost)) return std::nullopt;
  if (shape / 16 != static_cast<unsigned>(ItemKind::kRepost)) {
    return Member{.kind = Member::Kind::kUnknownItem};
  }
  text.remove_prefix(length);
  if (text.size() <= 8) return std::nullopt;
  const Original original{PostId{NumberOfBytes(text.substr(0, 8))},
                          ParseAuthor(text.substr(8)).value_or(UserId{})};
  if (!IsValidId(Raw(original.post)) || Raw(original.author) == 0) return std::nullopt;
  return Member{Member::Kind::kItem, {}, {post, 0, *author, original}};
}
// As MemberText::OfAnyKind names it.
inline bool IsOfAnyKind(std::string_view text) {
  constexpr size_t kAuthor = 11;
  if (text.size() <= kAuthor || text.front() != 1 || text[9] != 0) return false;
  return static_cast<size_t>(text[10]) == text.size() - kAuthor &&
         ParseAuthor(text.substr(kAuthor)) && IsValidId(~NumberOfBytes(text.substr(1, 8)));
}
// Without its time. Nothing for every other member, and for an item of an unknown kind.
inline std::optional<Item> ParseItem(std::string_view text) {
  const auto member = ParseAnyItem(text);
  if (!member || member->kind != Member::Kind::kItem) return std::nullopt;
  return member->item;
}
// Nothing: no member of a timeline.
inline std::optional<Member> ParseMember(std::string_view text) {
  using Kind = Member::Kind;
  if (const auto item = ParseAnyItem(text)) return item;
  if (text == kHeadMember) return Member{.kind = Kind::kHead};
  if (text == kFloorMember) return Member{.kind = Kind::kFloor};
  if (text == kMoreMarksMember) return Member{.kind = Kind::kMoreMarks};
  if (text.starts_with("B:")) return Member{.kind = Kind::kRebuild};
  if (text.starts_with('A')) {
    const bool no_reposts = text.starts_with("A-");
    const auto author = ParseId(text.substr(no_reposts ? 2 : 1));
    if (author) return Member{.kind = Kind::kMark, .mark = {UserId{*author}, no_reposts}};
  }
  if (text.starts_with('M')) {
    const auto version = ParseId(text.substr(1));
    if (version) return Member{.kind = Kind::kMutes, .version = *version};
  }
  if (text.starts_with('X')) {
    text.remove_prefix(1);
    auto removed = IsOfAnyKind(text) ? Member{} : ParseAnyItem(text);
    if (removed) removed->kind = Kind::kRemoval;
    return removed;
  }
  return std::nullopt;
}

}  // namespace fanline
