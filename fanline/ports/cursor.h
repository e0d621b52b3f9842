// The cursor of a timeline as text: where a page ended, whatever its source (live timeline, rebuild
// or truth). "1700000000000.77": created_at in milliseconds and the post, both in the one decimal
// spelling. Clients pass it back and read nothing into it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fanline/ports/reader_ports.h"

namespace fanline {

inline std::string CursorText(const Position& position) {
  return std::to_string(position.created_at) + "." + ToString(position.post);
}

// Nothing for any text that CursorText does not write.
inline std::optional<Position> ParseCursor(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto created_at = ParseId(text.substr(0, dot));
  const auto post = ParseId(text.substr(dot + 1));
  if (!created_at || !post || *created_at > uint64_t{kMaxCreatedAt}) return std::nullopt;
  return Position{static_cast<UnixMs>(*created_at), PostId{*post}};
}

// What a client that asks for newer posts has seen: everything from `place` on, and `before` posts
// of those before it. "1700000000000.77", or "1700000000000.1.3" with 3 of them.
struct SeenCursor {
  Position place;
  uint32_t before = 0;
};

inline std::string CursorText(const SeenCursor& seen) {
  const std::string place = CursorText(seen.place);
  return seen.before == 0 ? place : place + "." + std::to_string(seen.before);
}
inline std::optional<SeenCursor> ParseSeenCursor(std::string_view text) {
  if (const auto place = ParseCursor(text)) return SeenCursor{*place};
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto place = ParseCursor(text.substr(0, dot));
  const auto before = ParseId(text.substr(dot + 1));
  if (!place || !before || *before > UINT32_MAX) return std::nullopt;
  return SeenCursor{*place, static_cast<uint32_t>(*before)};
}

}  // namespace fanline
