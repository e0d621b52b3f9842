// The monotonic clock, read only by what owns a thread or hears of librdkafka's.
#pragma once

#include "fanline/base/time.h"

namespace fanline::kafka {

inline Time MonoNow() { return std::chrono::time_point_cast<Duration>(Clock::now()); }

}  // namespace fanline::kafka
