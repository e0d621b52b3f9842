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

std::string CursorText(const SeenCursor& seen) {
  const std::string place = CursorText(seen.place);
  return seen.before == 0 ? place : place + "." + std::to_string(seen.before);
}

std::optional<SeenCursor> ParseSeenCursor(std::string_view text) {
  if (const auto place = ParseCursor(text)) return SeenCursor{*place};
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto place = ParseCursor(text.substr(0, dot));
  const auto before = ParseId(text.substr(dot + 1));
  if (!place || !before || *before > UINT32_MAX) return std::nullopt;
  return SeenCursor{*place, static_cast<uint32_t>(*before)};
}

}  // namespace fanline
