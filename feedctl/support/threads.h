// Runs work on several threads, and keeps their first failure.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "fanline/base/outcome.h"

namespace fanline::feedctl {

// Any thread, except status().
class FirstFailure {
 public:
  void Note(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (status_.done()) status_ = status;
    if (!status.done()) any_ = true;
  }
  bool any() const { return any_; }
  const Status& status() const { return status_; }  // after the threads are joined

 private:
  std::mutex mutex_;
  Status status_;  // under mutex_
  std::atomic<bool> any_ = false;
};

// Calls `work` with 0 .. count - 1, each on its own thread; returns when all have returned.
template <typename Work>
void InThreads(size_t count, Work work) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace fanline::feedctl
