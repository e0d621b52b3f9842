#include "feedctl/support/text.h"

#include <cstdio>

namespace fanline::feedctl {

std::string Grouped(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string Counted(uint64_t number, const std::string& noun) {
  return Grouped(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 1 ? "%.2f s" : "%.1f s", seconds);
  return text;
}

std::string Left(std::string text, size_t width) {
  text.append(text.size() < width ? width - text.size() : 1, ' ');
  return text;
}

std::string QuotedShort(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMost)) quoted += c < ' ' || c > '~' ? '?' : c;
  return quoted + (text.size() > kMost ? "...\"" : "\"");
}

}  // namespace fanline::feedctl
