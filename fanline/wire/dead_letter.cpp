#include "fanline/wire/dead_letter.h"

#include <algorithm>

#include "fanline/base/number.h"

namespace fanline {
namespace {

constexpr std::string_view kSuffix = ".dlq";

// The whole text as a number >= 0.
template <typename Number>
std::optional<Number> ParseCount(std::string_view text) {
  const auto number = ParseNumber<Number>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

std::string DeadLetterTopic(std::string_view topic) { return std::string(topic).append(kSuffix); }

LogPlace PlaceOf(const Record& record) { return {record.topic, record.partition, record.offset}; }

std::string ToString(const LogPlace& place) {
  return place.topic + "/" + std::to_string(place.partition) + "/" + std::to_string(place.offset);
}

std::optional<LogPlace> ParseLogPlace(std::string_view text) {
  const size_t last = text.rfind('/');
  if (last == text.npos || last == 0) return std::nullopt;
  const size_t first = text.rfind('/', last - 1);
  if (first == text.npos || first == 0) return std::nullopt;
  const auto partition = ParseCount<int32_t>(text.substr(first + 1, last - first - 1));
  const auto offset = ParseCount<int64_t>(text.substr(last + 1));
  if (!partition || !offset) return std::nullopt;
  return LogPlace{std::string(text.substr(0, first)), *partition, *offset};
}

std::optional<std::string_view> HeaderOf(const Record& record, std::string_view name) {
  for (const auto& [each, value] : record.headers) {
    if (each == name) return value;
  }
  return std::nullopt;
}

UnixMs FirstAppended(const Record& record) {
  const auto text = HeaderOf(record, kFirstAppendedHeader);
  const auto first = text ? ParseCount<UnixMs>(*text) : std::nullopt;
  if (!first || *first == 0) return record.timestamp;
  return record.timestamp > 0 ? std::min(record.timestamp, *first) : *first;
}

}  // namespace fanline
