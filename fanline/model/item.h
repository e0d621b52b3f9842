// One entry of a timeline, and the one order used everywhere (Redis, pull merge, SQL index):
// created_at descending, then the member's bytes ascending. The member is the decimal post id.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "fanline/base/time.h"
#include "fanline/model/ids.h"

namespace fanline {

// Created_at must be exact as a Redis score (a double) and positive.
inline constexpr UnixMs kMaxCreatedAt = (int64_t{1} << 53) - 1;

struct Item {
  PostId post{};
  UnixMs created_at = 0;
  friend bool operator==(const Item&, const Item&) = default;
};

struct MemberText {
  explicit MemberText(PostId post) {
    size =
        static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, Raw(post)).ptr - digits);
  }
  operator std::string_view() const { return {digits, size}; }
  char digits[20];
  size_t size;
};

inline bool IsNewer(const Item& a, const Item& b) {
  if (a.created_at != b.created_at) return a.created_at > b.created_at;
  return std::string_view(MemberText(a.post)) < std::string_view(MemberText(b.post));
}

// A timeline is complete for times strictly newer than its floor; kNoFloor = nothing older exists.
using Floor = UnixMs;
inline constexpr Floor kNoFloor = 0;  // below every valid created_at, so "newer than" just works

}  // namespace fanline
