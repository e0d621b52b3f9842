// The progress of a long command on stderr: a bar on a terminal, else a line now and then.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "fanline/base/time.h"

namespace fanline::feedctl {

class Progress {
 public:
  // "import: 250,000 of 1,017,674 rows". `total` 0: unknown.
  Progress(std::string what, std::string unit, uint64_t total);
  // Clears the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Any thread; cheap enough for every item.
  void At(uint64_t done);
  void SetTotal(uint64_t total);

 private:
  void Draw(uint64_t done, Time now);  // under mutex_
  std::string Line(uint64_t done, Time now) const;

  const std::string what_;
  const std::string unit_;
  const bool terminal_;
  const Time begin_;
  std::mutex mutex_;
  uint64_t total_;    // under mutex_
  Time next_draw_{};  // under mutex_
  bool drawn_ = false;
};

}  // namespace fanline::feedctl
