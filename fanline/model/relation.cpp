#include "fanline/model/relation.h"

#include <limits>

namespace fanline {

std::string CursorText(const ListCursor& cursor) {
  return std::to_string(cursor.pos) + "." + ToString(cursor.user) + "." +
         std::to_string(cursor.shown);
}

std::optional<ListCursor> ParseListCursor(std::string_view text) {
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
