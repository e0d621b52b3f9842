#include "fanline/model/ids.h"

#include <charconv>

namespace fanline {

std::optional<uint64_t> ParseId(std::string_view text) {
  if (text.empty() || text.front() == '0') return std::nullopt;
  uint64_t raw = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, raw);
  if (error != std::errc() || stopped != end || !IsValidId(raw)) return std::nullopt;
  return raw;
}

}  // namespace fanline
