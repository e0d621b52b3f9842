// The two clocks every passive component is handed; nothing here reads a clock.
//
// Time is monotonic (timers, back-off, watchdogs). UnixMs is wall time, used only for what is
// shared between processes: the age of a record and the publish-to-delivery latency.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace fanline {

using Clock = std::chrono::steady_clock;
using Duration = std::chrono::microseconds;
using Time = std::chrono::time_point<Clock, Duration>;
using UnixMs = int64_t;

struct Now {
  Time mono;
  UnixMs unix_ms = 0;
};

// What is shared between processes is told in whole milliseconds.
inline int64_t Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// The earlier of two timers; none: neither is set.
inline std::optional<Time> Earlier(std::optional<Time> one, std::optional<Time> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace fanline
