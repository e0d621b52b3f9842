// Carries completions from the threads of a backend to the loop that steps the logic.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "daemon/wakeup.h"

namespace fanline::daemon {

// A queue of T with one reader, which sleeps on the Wakeup. It needs no bound of its own: it holds
// answers to requests, and their sender bounds those in flight.
template <typename T>
class Inbox {
 public:
  // `wakeup` must outlive the inbox.
  explicit Inbox(const Wakeup& wakeup) : wakeup_(wakeup) {}

  // Appends, and wakes the reader if it had nothing to read. Any thread.
  void Push(T item) {
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      was_empty = items_.empty();
      items_.push_back(std::move(item));
    }
    if (was_empty) wakeup_.Notify();
  }

  // Everything that arrived since the last call, oldest first; items of one thread in their order.
  // The reader must drain after every wake-up: a non-empty inbox does not notify again.
  [[nodiscard]] std::vector<T> Drain() {
    std::vector<T> taken;
    const std::lock_guard lock(mutex_);
    taken.swap(items_);
    return taken;
  }

 private:
  const Wakeup& wakeup_;
  std::mutex mutex_;
  std::vector<T> items_;  // guarded by mutex_
};

}  // namespace fanline::daemon
