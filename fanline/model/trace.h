// The trace of a record, from the header `traceparent` (W3C Trace Context), which travels on from
// an application's event to the delivery. Log lines carry the id, so that they can be found from
// the trace.
#pragma once

#include <string>

#include "fanline/model/record.h"

namespace fanline {

// "4bf92f3577b34da6a3ce929d0e0e4736" of "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".
// Empty without such a header or if it is malformed. What follows the id is not checked: later
// versions may have more.
inline std::string TraceIdOf(const Headers& headers) {
  constexpr size_t kBegin = 3, kSize = 32;
  for (const auto& [name, value] : headers) {
    if (name != "traceparent") continue;
    if (value.size() <= kBegin + kSize || value[2] != '-' || value[kBegin + kSize] != '-')
      return {};
    std::string id = value.substr(kBegin, kSize);
    const bool is_id = id.find_first_not_of("0123456789abcdef") == std::string::npos &&
                       id.find_first_not_of('0') != std::string::npos;
    return is_id ? id : std::string();
  }
  return {};
}

}  // namespace fanline
