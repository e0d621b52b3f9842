// How long to wait before the n-th retry: exponential from `first` to `most`, jittered over the
// upper half, so that calls that failed together do not come back together. The caller hands in
// the random number.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fanline/base/time.h"

namespace fanline {

struct Backoff {
  Duration first = std::chrono::milliseconds(50);
  Duration most = std::chrono::seconds(5);

  // `attempt` counts from 1; `random` is any 64 random bits.
  Duration Delay(uint32_t attempt, uint64_t random) const {
    const uint32_t doublings = std::min(attempt == 0 ? 0u : attempt - 1, 20u);
    const int64_t full = std::min<int64_t>(most.count(), first.count() << doublings);
    const int64_t half = full / 2;
    return Duration(full - half + static_cast<int64_t>(random % static_cast<uint64_t>(half + 1)));
  }
};

}  // namespace fanline
