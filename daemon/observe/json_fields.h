// Named values and how they become one JSON object: log lines and health answers.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace fanline::daemon {

// A value that lives for one call: texts are borrowed, not copied.
class FieldValue {
 public:
  FieldValue(bool value) : value_(value) {}
  FieldValue(double value) : value_(value) {}
  template <std::signed_integral T>
  FieldValue(T value) : value_(static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::is_same_v<T, bool>) FieldValue(T value) : value_(static_cast<uint64_t>(value)) {}
  // The ids of fanline/model/ids.h; written as strings.
  template <typename T>
  requires std::is_enum_v<T> && std::is_same_v<std::underlying_type_t<T>, uint64_t> FieldValue(T id)
      : value_(Id{static_cast<uint64_t>(id)}) {}
  FieldValue(std::string_view value) : value_(value) {}
  FieldValue(const std::string& value) : value_(std::string_view(value)) {}
  FieldValue(const char* value) : value_(std::string_view(value)) {}

  struct Id {
    uint64_t raw;
  };
  using Variant = std::variant<bool, double, int64_t, uint64_t, Id, std::string_view>;
  const Variant& variant() const { return value_; }

 private:
  Variant value_;
};

struct Field {
  std::string_view key;
  FieldValue value;
};
using Fields = std::initializer_list<Field>;

// A text longer than this is cut, with its length appended: one field cannot fill a log.
inline constexpr size_t kMaxFieldBytes = 4096;

// {"key":value,...} in the order given, on one line. Texts are passed through Redact. Bytes that
// are not UTF-8 become U+FFFD, integers beyond 2^53 become decimal strings (readers of JSON would
// round them), infinities and NaN become null. A key that is there already gets a '_' behind it.
// Any thread.
[[nodiscard]] std::string JsonObject(std::span<const Field> fields);

}  // namespace fanline::daemon
