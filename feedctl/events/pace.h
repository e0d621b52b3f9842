// Spreads work evenly over time: piece n is due n / rate after the begin. A delay is made up for at
// once, so the rate holds overall. Passive.
#pragma once

#include <cstdint>

#include "fanline/base/time.h"

namespace fanline::feedctl {

class Pace {
 public:
  // `per_second` 0: everything is due at once.
  Pace(double per_second, Time begin) : per_second_(per_second), begin_(begin) {}

  // How long to wait at `now` before piece `n` (from 0); zero: it is due.
  Duration WaitBefore(uint64_t n, Time now) const {
    if (per_second_ <= 0) return Duration::zero();
    const std::chrono::duration<double> at(static_cast<double>(n) / per_second_);
    const Time due = begin_ + std::chrono::duration_cast<Duration>(at);
    return due > now ? due - now : Duration::zero();
  }

 private:
  double per_second_;
  Time begin_;
};

}  // namespace fanline::feedctl
