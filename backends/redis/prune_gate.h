// Whether it pays to ask live: before a script call. The question costs about a tenth of a write,
// and saves most of a write for each reader it can leave out. It pays when enough readers were not
// live lately, which every call tells, asked or not. One thread.
#pragma once

#include <cstddef>

namespace fanline::redis {

class PruneGate {
 public:
  static constexpr double kWorthAsking = 0.1;  // of the readers, not live
  static constexpr double kMemory = 2'000;     // readers; the last ones count most

  bool open() const { return not_live_ >= kWorthAsking; }

  void Saw(size_t readers, size_t not_live) {
    if (readers == 0) return;
    const auto seen = static_cast<double>(readers);
    not_live_ += (static_cast<double>(not_live) / seen - not_live_) * seen / (seen + kMemory);
  }

 private:
  double not_live_ = 1;  // a share; nothing known: ask
};

}  // namespace fanline::redis
