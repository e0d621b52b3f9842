#include "feedctl/support/text.h"

#include <cstdio>

namespace fanline::feedctl {
namespace {

std::string Printable(std::string_view text, size_t most) {
  std::string line;
  for (const char c : text.substr(0, most)) line += c < ' ' || c > '~' ? '?' : c;
  return line + (text.size() > most ? "..." : "");
}

}  // namespace

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

std::string DeliveryText(Delivery delivery) {
  return delivery == Delivery::kAll ? "" : std::string(", delivery ") + NameOf(delivery);
}

std::string ShownText(const Original& original) {
  if (!original) return "";
  return ", shows post " + ToString(original.post) + " of author " + ToString(original.author);
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

std::string QuotedShort(std::string_view text) { return '"' + Printable(text, 40) + '"'; }

std::string OneLine(std::string_view text) { return Printable(text, 2'000); }

}  // namespace fanline::feedctl
