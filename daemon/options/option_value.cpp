#include "daemon/options/option_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "fanline/base/number.h"

namespace fanline::daemon {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

template <typename T>
inline constexpr bool kIsDuration =
    std::is_same_v<T, milliseconds> || std::is_same_v<T, microseconds>;

struct Unit {
  std::string_view suffix;
  int64_t us;
};
// Longest unit first: the order in which a duration is shown.
constexpr std::array<Unit, 5> kUnits{
    {{"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1000}, {"us", 1}}};

std::optional<microseconds> ParseDuration(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = ParseNumber<int64_t>(text.substr(0, digits));
  for (const Unit& unit : kUnits) {
    if (!count || text.substr(digits) != unit.suffix) continue;
    if (*count > std::numeric_limits<int64_t>::max() / unit.us) return std::nullopt;
    return microseconds(*count * unit.us);
  }
  return std::nullopt;
}

// In the largest unit that is exact: 90s, not 1.5m; 2m, not 120s.
std::string ShowDuration(microseconds duration) {
  for (const Unit& unit : kUnits) {
    if (duration.count() == 0 || duration.count() % unit.us != 0) continue;
    return std::to_string(duration.count() / unit.us) + std::string(unit.suffix);
  }
  return "0s";
}

std::string ShowReal(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

template <typename T>
std::string ShowBound(int64_t bound) {
  if constexpr (kIsDuration<T>) {
    return ShowDuration(T(bound));
  } else {
    return std::to_string(bound);
  }
}

// Below, at or above a bound: negative, 0, positive.
template <typename T>
int Compare(T value, int64_t bound) {
  if constexpr (kIsDuration<T>) {
    return Compare(value.count(), bound);
  } else if constexpr (std::is_floating_point_v<T>) {
    return (value > static_cast<T>(bound)) - (value < static_cast<T>(bound));
  } else {
    return std::cmp_greater(value, bound) - std::cmp_less(value, bound);
  }
}

template <typename T>
std::string RangeOf(const ValueRange& range) {
  return ShowBound<T>(range.min) + ".." + ShowBound<T>(range.max);
}

template <typename T>
std::string StoreInRange(T value, const std::optional<ValueRange>& range, T* target) {
  if (range && (Compare(value, range->min) < 0 || Compare(value, range->max) > 0)) {
    return "is not in " + RangeOf<T>(*range);
  }
  *target = value;
  return {};
}

template <typename T>
std::string TypeBounds() {
  return std::to_string(std::numeric_limits<T>::min()) + ".." +
         std::to_string(std::numeric_limits<T>::max());
}

// One overload per type; called with the single text of a scalar.
struct Store {
  const std::string& text;
  const std::optional<ValueRange>& range;

  std::string operator()(std::string* target) const {
    *target = text;
    return {};
  }

  std::string operator()(bool* target) const {
    for (const auto* yes : {"true", "yes", "on", "1"}) {
      if (text == yes) return *target = true, std::string();
    }
    for (const auto* no : {"false", "no", "off", "0"}) {
      if (text == no) return *target = false, std::string();
    }
    return "is neither true nor false";
  }

  template <typename T>
  requires std::is_integral_v<T> std::string operator()(T* target) const {
    const auto value = ParseNumber<T>(text);
    if (!value) return "is not a whole number in " + TypeBounds<T>();
    return StoreInRange(*value, range, target);
  }

  std::string operator()(double* target) const {
    const auto value = ParseNumber<double>(text);
    if (!value || !std::isfinite(*value)) return "is not a number";
    return StoreInRange(*value, range, target);
  }

  template <typename T>
  requires kIsDuration<T> std::string operator()(T* target) const {
    const auto us = ParseDuration(text);
    if (!us) return "is not a duration such as 500ms, 2s, 1m or 1h";
    const T value = std::chrono::duration_cast<T>(*us);
    if (value != *us) return "is finer than a millisecond";
    return StoreInRange(value, range, target);
  }

  std::string operator()(Endpoint* target) const {
    auto endpoint = ParseEndpoint(text);
    if (!endpoint) return "is not host:port";
    *target = std::move(*endpoint);
    return {};
  }
};

void AppendItems(std::string_view text, std::vector<std::string>& items) {
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) items.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

std::string Join(const std::vector<std::string>& items, std::string_view separator) {
  std::string joined;
  for (const std::string& item : items) {
    if (!joined.empty()) joined += separator;
    joined += item;
  }
  return joined;
}

struct Show {
  std::string operator()(const std::string* target) const { return *target; }
  std::string operator()(const bool* target) const { return *target ? "true" : "false"; }
  std::string operator()(const double* target) const { return ShowReal(*target); }
  std::string operator()(const Endpoint* target) const { return ToString(*target); }
  std::string operator()(const std::vector<std::string>* target) const {
    return Join(*target, ",");
  }
  template <typename T>
  std::string operator()(const T* target) const {
    if constexpr (kIsDuration<T>) {
      return ShowDuration(*target);
    } else {
      return std::to_string(*target);
    }
  }
};

struct NameType {
  std::string operator()(const std::string*) const { return "TEXT"; }
  std::string operator()(const bool*) const { return "true|false"; }
  std::string operator()(const Endpoint*) const { return "HOST:PORT"; }
  std::string operator()(const std::vector<std::string>*) const { return "LIST"; }
  template <typename T>
  std::string operator()(const T*) const {
    return kIsDuration<T> ? "DURATION" : "N";
  }
};

}  // namespace

std::string StoreValue(const OptionTarget& target, const std::optional<ValueRange>& range,
                       const std::vector<std::string>& texts) {
  if (const auto* list = std::get_if<std::vector<std::string>*>(&target)) {
    (*list)->clear();
    for (const std::string& text : texts) AppendItems(text, **list);
    return {};
  }
  if (texts.size() != 1) return "is more than one value";
  const Store store{texts.front(), range};
  return std::visit(
      [&store](const auto& to) -> std::string {
        if constexpr (std::is_invocable_v<Store, decltype(to)>) {
          return store(to);
        } else {
          return {};  // the list, done above
        }
      },
      target);
}

std::string ShowValue(const OptionTarget& target) { return std::visit(Show{}, target); }

std::string ShowRange(const OptionTarget& target, const ValueRange& range) {
  return std::visit(
      [&range](const auto* to) { return RangeOf<std::remove_cvref_t<decltype(*to)>>(range); },
      target);
}

std::string Placeholder(const OptionTarget& target) { return std::visit(NameType{}, target); }

}  // namespace fanline::daemon
