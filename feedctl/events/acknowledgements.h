// Counts the records sent to Kafka and their answers. Any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "fanline/base/outcome.h"
#include "fanline/ports/hint_log.h"

namespace fanline::feedctl {

class Acknowledgements {
 public:
  // One more was sent.
  void Expect() {
    const std::lock_guard lock(mutex_);
    ++expected_;
  }
  // The answer to one that was sent.
  void Answer(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (status.done()) {
      ++acknowledged_;
    } else if (failed_++ == 0) {
      failure_ = status;
    }
    answered_.notify_all();
  }
  void Push(const HintsAppended& reply) { Answer(reply.status); }
  void Push(const EventAppended& reply) { Answer(reply.status); }

  // Waits until at most that many are unanswered. Each is answered within the producer's own time
  // limit, so this ends.
  void AwaitAtMost(uint64_t unanswered) {
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return expected_ - acknowledged_ - failed_ <= unanswered; });
  }

  [[nodiscard]] uint64_t acknowledged() const {
    const std::lock_guard lock(mutex_);
    return acknowledged_;
  }
  // The first failure, or done.
  Status failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable answered_;
  uint64_t expected_ = 0;  // all under mutex_
  uint64_t acknowledged_ = 0;
  uint64_t failed_ = 0;
  Status failure_;
};

}  // namespace fanline::feedctl
