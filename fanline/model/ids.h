// Ids of users and posts: unsigned 64-bit, where 0 and 2^64-1 are invalid (an importer whose
// graph counts from 0 shifts its ids). On the wire and in keys they are decimal, without sign,
// leading zero or blank, so that one id has one spelling.
//
// Post ids are unique in the whole installation, not only per author.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fanline/base/number.h"

namespace fanline {

enum class UserId : uint64_t {};
enum class PostId : uint64_t {};

constexpr uint64_t Raw(UserId id) { return static_cast<uint64_t>(id); }
constexpr uint64_t Raw(PostId id) { return static_cast<uint64_t>(id); }

constexpr bool IsValidId(uint64_t raw) { return raw != 0 && raw != UINT64_MAX; }

using PostKey = std::pair<UserId, PostId>;  // author, post

inline std::string ToString(UserId id) { return std::to_string(Raw(id)); }
inline std::string ToString(PostId id) { return std::to_string(Raw(id)); }

// The same on the stack.
struct IdText {
  explicit IdText(uint64_t raw)
      : size(static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, raw).ptr - digits)) {
  }
  operator std::string_view() const { return {digits, size}; }
  char digits[20];
  size_t size;
};

// The one decimal spelling of a valid id; nothing for anything else.
inline std::optional<uint64_t> ParseId(std::string_view text) {
  if (text.empty() || text.front() == '0') return std::nullopt;
  const auto raw = ParseNumber<uint64_t>(text);
  return raw && IsValidId(*raw) ? raw : std::nullopt;
}

}  // namespace fanline
