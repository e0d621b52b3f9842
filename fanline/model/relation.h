// The relation of one user to another, and a place in a list of users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
inline std::string CursorText(const ListCursor& cursor) {
  return std::to_string(cursor.pos) + "." + ToString(cursor.user) + "." +
         std::to_string(cursor.shown);
}

// Nothing for any text that CursorText does not write.
inline std::optional<ListCursor> ParseListCursor(std::string_view text) {
  const size_t first = text.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto pos = ParseId(text.substr(0, first));
  const auto user = ParseId(text.substr(first + 1, second - first - 1));
  const auto shown = ParseId(text.substr(second + 1));
  if (!pos || !user || !shown) return std::nullopt;
  if (*pos > static_cast<uint64_t>(std::numeric_limits<UnixMs>::max())) return std::nullopt;
  if (*shown > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return ListCursor{static_cast<UnixMs>(*pos), UserId{*user}, static_cast<uint32_t>(*shown)};
}

}  // namespace fanline
