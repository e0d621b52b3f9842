// One entry of a timeline, and the one order used everywhere (Redis, pull merge, SQL index):
// created_at descending, then the bytes of the item's member ascending.
#pragma once

#include <string_view>

#include "fanline/base/time.h"
#include "fanline/model/ids.h"
#include "fanline/model/member.h"

namespace fanline {

struct Item {
  PostId post{};
  UnixMs created_at = 0;
  UserId author{};
  friend bool operator==(const Item&, const Item&) = default;
};

inline bool IsNewer(const Item& a, const Item& b) {
  if (a.created_at != b.created_at) return a.created_at > b.created_at;
  return std::string_view(MemberText(a.post)) < std::string_view(MemberText(b.post));
}

}  // namespace fanline
