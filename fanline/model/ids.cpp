#include "fanline/model/ids.h"

#include "fanline/base/number.h"

namespace fanline {

std::optional<uint64_t> ParseId(std::string_view text) {
  if (text.empty() || text.front() == '0') return std::nullopt;
  const auto raw = ParseNumber<uint64_t>(text);
  return raw && IsValidId(*raw) ? raw : std::nullopt;
}

}  // namespace fanline
