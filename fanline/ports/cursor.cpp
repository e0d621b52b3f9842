#include "fanline/ports/cursor.h"

namespace fanline {

std::string CursorText(const Position& position) {
  return std::to_string(position.created_at) + "." + ToString(position.post);
}

std::optional<Position> ParseCursor(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto created_at = ParseId(text.substr(0, dot));
  const auto post = ParseId(text.substr(dot + 1));
  if (!created_at || !post || *created_at > uint64_t{kMaxCreatedAt}) return std::nullopt;
  return Position{static_cast<UnixMs>(*created_at), PostId{*post}};
}

}  // namespace fanline
