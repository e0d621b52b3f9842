#include "fanline/model/member.h"

namespace fanline {

std::optional<Member> ParseMember(std::string_view text) {
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
  if (text.starts_with('X')) {
    const auto post = ParseItem(text.substr(1));
    if (post) return Member{.kind = Kind::kRemoval, .post = *post};
  }
  return std::nullopt;
}

}  // namespace fanline
