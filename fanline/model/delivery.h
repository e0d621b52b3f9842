// What one follow brings into the follower's home timeline: a choice of the follower, part of the
// edge's state (edge.h). The numbers are those of the tables (schemas/sql/shard.sql) and of
// relation-log.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace fanline {

enum class Delivery : uint8_t {
  kAll = 0,
  kNoReposts = 1,  // all posts but reposts
  kNone = 2,       // nothing: muted, but still a follow that counts
};
inline constexpr const char* kDeliveries[] = {"all", "no_reposts", "none"};  // their names

// "unknown" for a number that a damaged row may hold.
constexpr const char* NameOf(Delivery delivery) {
  const auto number = static_cast<size_t>(delivery);
  return number < std::size(kDeliveries) ? kDeliveries[number] : "unknown";
}

// None if the number is not one of the three.
constexpr std::optional<Delivery> DeliveryOf(uint64_t number) {
  if (number >= std::size(kDeliveries)) return std::nullopt;
  return static_cast<Delivery>(number);
}

// The number of a row, whether this version knows it (IsKnown) or not.
constexpr Delivery StoredDelivery(int64_t number) {
  return static_cast<Delivery>(number < 0 || number > UINT8_MAX ? UINT8_MAX : number);
}
constexpr bool IsKnown(Delivery delivery) {
  return DeliveryOf(static_cast<uint64_t>(delivery)).has_value();
}

constexpr std::optional<Delivery> ParseDelivery(std::string_view name) {
  for (size_t i = 0; i < std::size(kDeliveries); ++i) {
    if (name == kDeliveries[i]) return static_cast<Delivery>(i);
  }
  return std::nullopt;
}

}  // namespace fanline
