// For every program that makes one side's round: a clock, and an end at the first thing that goes
// wrong, for a bench has no use for half a measurement.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "fanline/base/outcome.h"

namespace fanline::bench {

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Throws std::runtime_error.
inline void Must(const Status& status) {
  if (!status.done()) throw std::runtime_error(status.message);
}
inline void Must(bool so, const std::string& otherwise) {
  if (!so) throw std::runtime_error(otherwise);
}

}  // namespace fanline::bench
