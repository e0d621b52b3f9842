// The monotonic clock. It is read only where a thread of this adapter waits or begins to use a
// connection.
#pragma once

#include "fanline/base/time.h"

namespace fanline::mysql {

inline Time MonoNow() { return std::chrono::time_point_cast<Duration>(Clock::now()); }

}  // namespace fanline::mysql
