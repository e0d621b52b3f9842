// Stops removing repairs when there are too many of them: a forward shard restored from an old
// backup, or wiped, must not erase followers. One per shard, of the reverse rows. Past its limit it
// is open until an operator closes it. Passive, not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fanline/check.h"
#include "fanline/time.h"

namespace fanline::reconciler {

struct BreakerLimits {
  uint32_t removals_per_minute = 1'000;
};

class Breaker {
 public:
  explicit Breaker(BreakerLimits limits = {}) : limits_(limits) {}

  // Asks for one removal. False: not now and not later; report it. `now` never goes back.
  [[nodiscard]] bool Allows(Time now) {
    Forget(now);
    if (open_ || of_minute_ >= limits_.removals_per_minute) {
      open_ = true;
      return false;
    }
    ++of_second_[second_ % of_second_.size()];
    ++of_minute_;
    return true;
  }

  bool open() const { return open_; }
  // The operator has looked at what it reported. What was removed in the last minute still counts.
  void Close() { open_ = false; }

 private:
  // Any 60 s lie within the seconds kept here, so none has more removals than allowed.
  void Forget(Time now) {
    const int64_t second =
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    FANLINE_CHECK(second >= second_, "time went back");
    for (size_t i = 0; i < of_second_.size() && second_ < second; ++i) {
      of_minute_ -= of_second_[++second_ % of_second_.size()];
      of_second_[second_ % of_second_.size()] = 0;
    }
    second_ = second;
  }

  const BreakerLimits limits_;
  std::array<uint32_t, 61> of_second_{};
  uint64_t of_minute_ = 0;
  int64_t second_ = 0;
  bool open_ = false;
};

}  // namespace fanline::reconciler
