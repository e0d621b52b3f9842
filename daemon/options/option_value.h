// The types an option may have, and how each is written as text: the same on the command line,
// in the environment, in a file, in --help and in --check-config.
//
//   string         as it is
//   bool           true, false (also yes/no, on/off, 1/0)
//   whole numbers  decimal; `double` also with a point
//   durations      a whole number with its unit: 250us, 500ms, 2s, 1m, 1h
//   endpoint       host:port
//   list           comma-separated, empty items dropped; giving the flag twice appends
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fanline/base/endpoint.h"

namespace fanline::daemon {

// Where an option's value goes; what it holds before parsing is the default.
using OptionTarget = std::variant<std::string*, bool*, int32_t*, int64_t*, uint16_t*, uint32_t*,
                                  uint64_t*, double*, std::chrono::milliseconds*,
                                  std::chrono::microseconds*, Endpoint*, std::vector<std::string>*>;

// Inclusive bounds of a number, or of a duration in its target's unit.
struct ValueRange {
  int64_t min = 0;
  int64_t max = 0;
};

// Reads `texts` (one, except for a list) into the target. Returns what is wrong with the text, in
// words that follow the quoted value ("is not a whole number"); empty if it was stored. A refused
// value leaves the target as it was.
[[nodiscard]] std::string StoreValue(const OptionTarget& target,
                                     const std::optional<ValueRange>& range,
                                     const std::vector<std::string>& texts);

// The target's present value, as text that StoreValue reads back.
[[nodiscard]] std::string ShowValue(const OptionTarget& target);

// "1..512", "1ms..1m"
[[nodiscard]] std::string ShowRange(const OptionTarget& target, const ValueRange& range);

// The placeholder --help shows for a value: TEXT, N, DURATION, HOST:PORT, LIST, a|b.
[[nodiscard]] std::string Placeholder(const OptionTarget& target);

[[nodiscard]] inline bool IsBool(const OptionTarget& target) {
  return std::holds_alternative<bool*>(target);
}
[[nodiscard]] inline bool IsDuration(const OptionTarget& target) {
  return std::holds_alternative<std::chrono::milliseconds*>(target) ||
         std::holds_alternative<std::chrono::microseconds*>(target);
}
[[nodiscard]] inline bool IsList(const OptionTarget& target) {
  return std::holds_alternative<std::vector<std::string>*>(target);
}

}  // namespace fanline::daemon
