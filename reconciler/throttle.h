// How many checks and repairs a shard takes: so many per second, and so many at once after a rest
// (a token bucket). Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fanline/check.h"
#include "fanline/time.h"

namespace fanline::reconciler {

class Throttle {
 public:
  // Full at first. Both at least 1.
  Throttle(double per_second, double burst)
      : per_us_(per_second / 1e6), burst_(burst), tokens_(burst) {
    FANLINE_CHECK(per_second >= 1 && burst >= 1, "a throttle that lets nothing pass");
  }

  // Takes one if there is one. `now` never goes back.
  [[nodiscard]] bool Take(Time now) {
    Fill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  // When the next Take will succeed: now or later.
  Time Next(Time now) {
    Fill(now);
    if (tokens_ >= 1) return now;
    return now + Duration(static_cast<int64_t>(std::ceil((1 - tokens_) / per_us_)));
  }

 private:
  void Fill(Time now) {
    if (now <= filled_) return;
    tokens_ = std::min(burst_, tokens_ + static_cast<double>((now - filled_).count()) * per_us_);
    filled_ = now;
  }

  const double per_us_;
  const double burst_;
  double tokens_;
  Time filled_{};
};

}  // namespace fanline::reconciler
