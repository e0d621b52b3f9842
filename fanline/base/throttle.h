// Limits how often something is done: `per_second` times, and `burst` at once after
// a rest (a token bucket). Exact, in whole numbers. Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fanline/base/check.h"
#include "fanline/base/time.h"

namespace fanline {

class Throttle {
 public:
  // Full at first. Both at least 1.
  Throttle(uint32_t per_second, uint32_t burst)
      : per_second_(per_second), full_(burst * kToken), credit_(full_) {
    FANLINE_CHECK(per_second >= 1 && burst >= 1, "a throttle that lets nothing pass");
  }

  // Takes a token if there is one. A `now` that goes back counts as no time passed.
  [[nodiscard]] bool Take(Time now) {
    Fill(now);
    if (credit_ < kToken) return false;
    credit_ -= kToken;
    return true;
  }

  // When the next Take will succeed: now or later.
  Time Next(Time now) {
    Fill(now);
    if (credit_ >= kToken) return now;
    return filled_ + Duration((kToken - credit_ + per_second_ - 1) / per_second_);
  }

 private:
  // Parts of a token. A microsecond brings per_second_ of them.
  static constexpr int64_t kToken = 1'000'000;

  void Fill(Time now) {
    const int64_t passed = (now - filled_).count();
    if (passed <= 0) return;
    filled_ = now;
    const int64_t until_full = (full_ - credit_) / per_second_ + 1;
    credit_ = passed >= until_full ? full_ : credit_ + passed * per_second_;
    credit_ = std::min(credit_, full_);
  }

  const int64_t per_second_;
  const int64_t full_;
  int64_t credit_;
  Time filled_{};
};

}  // namespace fanline
