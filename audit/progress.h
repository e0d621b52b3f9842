// How far the hints of the ranges of a process are applied, as the thread that consumes them tells
// and the sampler asks. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline::audit {

struct RangeProgress {
  int64_t applied = 0;  // all hints below this offset are in the timelines, for good
  int64_t end = 0;      // of the log: not below what it was at `end_asked_at`
  Time end_asked_at{};  // by the sampler's clock; a few seconds ago
};

using Progress = std::map<Range, RangeProgress>;  // the ranges that are this process's

class ProgressBoard {
 public:
  void Show(Progress progress) {
    const std::lock_guard lock(mutex_);
    progress_ = std::move(progress);
  }
  Progress Look() const {
    const std::lock_guard lock(mutex_);
    return progress_;
  }

 private:
  mutable std::mutex mutex_;
  Progress progress_;  // under mutex_
};

}  // namespace fanline::audit
