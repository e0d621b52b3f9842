// Whether it pays to ask live: before a script call. Per reader, the question costs about a tenth
// of a write, and saves most of a write if the reader is left out. So it pays when enough readers
// were not live lately, which every call tells, asked or not. One thread.
#pragma once

#include <cstddef>

namespace fanline::redis {

class PruneGate {
 public:
  static constexpr double kWorthAsking = 0.1;  // the share of readers not live
  static constexpr double kMemory = 2'000;     // readers; recent ones count most

  bool open() const { return not_live_ >= kWorthAsking; }

  void Note(size_t readers, size_t not_live) {
    if (readers == 0) return;
    const auto seen = static_cast<double>(readers);
    not_live_ += (static_cast<double>(not_live) / seen - not_live_) * seen / (seen + kMemory);
  }

 private:
  double not_live_ = 1;  // a share; 1 at first: ask
};

}  // namespace fanline::redis
