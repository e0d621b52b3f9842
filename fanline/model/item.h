// One entry of a timeline, and the one order used everywhere (Redis, pull merge, SQL index):
// created_at descending, then the post's id descending.
#pragma once

#include <cstdint>
#include <string_view>

#include "fanline/base/time.h"
#include "fanline/model/ids.h"
#include "fanline/model/original.h"

namespace fanline {

// What an entry is. Fixed, as its author and its time are, by the first published event of its id.
enum class ItemKind : uint8_t { kPost = 0, kRepost = 1 };

// As answers and messages of tools name it.
constexpr std::string_view NameOf(ItemKind kind) {
  switch (kind) {
    case ItemKind::kPost:
      return "post";
    case ItemKind::kRepost:
      return "repost";
  }
  return "";
}

struct Item {
  PostId post{};
  UnixMs created_at = 0;
  UserId author{};
  Original original{};  // what a repost shows

  ItemKind kind() const { return original ? ItemKind::kRepost : ItemKind::kPost; }
  friend bool operator==(const Item&, const Item&) = default;
};

constexpr bool IsNewer(const Item& a, const Item& b) {
  return a.created_at != b.created_at ? a.created_at > b.created_at : a.post > b.post;
}
// No item of the same moment is newer than the one of this id.
inline constexpr PostId kFirstOfMoment{UINT64_MAX - 1};

// Created_at must be exact as a Redis score (a double) and positive.
inline constexpr UnixMs kMaxCreatedAt = (int64_t{1} << 53) - 1;

// A timeline is complete for times strictly newer than its floor; kNoFloor = nothing older exists.
using Floor = UnixMs;
inline constexpr Floor kNoFloor = 0;  // below every valid created_at, so "newer than" just works

}  // namespace fanline
