// The clocks. Only code that owns a thread, or runs in a client library's callbacks, reads them.
#pragma once

#include "fanline/base/time.h"

namespace fanline {

inline Time MonoNow() { return std::chrono::time_point_cast<Duration>(Clock::now()); }

inline UnixMs UnixNow() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(wall).count();
}

// Both, read one after the other. Any thread.
inline Now SystemNow() { return {MonoNow(), UnixNow()}; }

}  // namespace fanline
