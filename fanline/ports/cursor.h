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

std::string CursorText(const Position& position);

// Nothing for any text that CursorText does not write.
std::optional<Position> ParseCursor(std::string_view text);

// What a client that asks for newer posts has seen: everything from `place` on, and `before` posts
// of those before it. "1700000000000.77", or "1700000000000.1.3" with 3 of them.
struct SeenCursor {
  Position place;
  uint32_t before = 0;
};

std::string CursorText(const SeenCursor& seen);
std::optional<SeenCursor> ParseSeenCursor(std::string_view text);

}  // namespace fanline
