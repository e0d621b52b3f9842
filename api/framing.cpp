#include "api/framing.h"

#include <algorithm>
#include <cctype>

namespace fanline::api {
namespace {

bool IsLength(std::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsChunked(std::string_view text) {
  constexpr std::string_view kChunked = "chunked";
  return std::equal(text.begin(), text.end(), kChunked.begin(), kChunked.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

}  // namespace

bool MayHaveBody(std::string_view method) {
  return method == "PUT" || method == "POST" || method == "PATCH" || method == "DELETE";
}

Framing FramingOf(std::string_view method, const std::vector<std::string>& content_lengths,
                  const std::vector<std::string>& transfer_encodings) {
  if (content_lengths.size() + transfer_encodings.size() > 1) return Framing::kUnsafe;
  if (!transfer_encodings.empty()) {
    const bool readable = IsChunked(transfer_encodings.front()) && MayHaveBody(method);
    return readable ? Framing::kBody : Framing::kUnsafe;
  }
  if (content_lengths.empty()) return Framing::kNoBody;
  if (!IsLength(content_lengths.front())) return Framing::kUnsafe;
  const bool empty = content_lengths.front().find_first_not_of('0') == std::string::npos;
  if (empty) return Framing::kNoBody;
  return MayHaveBody(method) ? Framing::kBody : Framing::kUnsafe;
}

}  // namespace fanline::api
