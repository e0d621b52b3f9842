// The trace that a record belongs to, by the header `traceparent` of the W3C's Trace Context, which
// travels on from an application's event to the delivery. Log lines carry the id, so that whoever
// looks at a trace finds them.
#pragma once

#include <string>

#include "fanline/model/record.h"

namespace fanline {

// "4bf92f3577b34da6a3ce929d0e0e4736" of "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".
// Empty: no such header, or one that is none. What comes behind the id is not looked at: later
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
