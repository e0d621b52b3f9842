// A number written in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace fanline {

// All of `text` is one number that `Number` can hold, as std::from_chars reads it: no blank, no
// plus, a minus only for a signed type; leading zeros are fine. None otherwise.
template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

}  // namespace fanline
