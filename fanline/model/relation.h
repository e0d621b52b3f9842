// The relation of one user to another, and a place in a list of users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fanline/base/time.h"
#include "fanline/model/ids.h"

namespace fanline {

// As seen by the user who asks.
enum class Relation {
  kNone = 0,
  kFollowing = 1,  // I follow them
  kFollower = 2,   // they follow me
  kMutual = 3,     // both
};

constexpr const char* NameOf(Relation relation) {
  constexpr const char* kNames[] = {"none", "following", "follower", "mutual"};
  return kNames[static_cast<size_t>(relation)];
}

// The place behind the last entry shown. Lists are newest first, at equal times the higher id
// first. A place is made of values, not of an index: entries that come or go do not shift it.
struct ListCursor {
  UnixMs pos = 0;
  UserId user{};
  uint32_t shown = 0;  // entries before this place; some lists are bounded
  friend bool operator==(const ListCursor&, const ListCursor&) = default;
};

// "1700000000000.77.20": pos, user, shown. Clients pass it back and read nothing into it.
std::string CursorText(const ListCursor& cursor);

// Nothing for any text that CursorText does not write.
std::optional<ListCursor> ParseListCursor(std::string_view text);

}  // namespace fanline
