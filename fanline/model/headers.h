// The headers of a record: their size, and which of them travel on with the hints made from it.
// Tracing headers (traceparent, tracestate) and our own (fanline-*) do. Others belong to the
// application and stay behind, for a post has a hint in every range.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fanline/model/record.h"

namespace fanline {

inline constexpr size_t kMostTravellingBytes = 4096;

// Names and values together.
inline size_t BytesOf(const Headers& headers) {
  size_t bytes = 0;
  for (const auto& [name, value] : headers) bytes += name.size() + value.size();
  return bytes;
}

inline bool TravelsOn(std::string_view name) {
  return name == "traceparent" || name == "tracestate" || name.starts_with("fanline-");
}

// In order. A header that would exceed the bound is left out; a smaller one behind it may fit.
inline Headers TravellingHeaders(const Headers& headers) {
  Headers travelling;
  size_t bytes = 0;
  for (const auto& [name, value] : headers) {
    const size_t more = name.size() + value.size();
    if (!TravelsOn(name) || bytes + more > kMostTravellingBytes) continue;
    bytes += more;
    travelling.emplace_back(name, value);
  }
  return travelling;
}

}  // namespace fanline
