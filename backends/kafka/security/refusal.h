// Why brokers turn a client away. Its calls fail by running out of time, as if no broker were
// there; this remembers the reason, which comes another way.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace fanline::kafka {

// Any thread.
class Refusal {
 public:
  void Note(std::string reason) {
    const std::lock_guard lock(mutex_);
    reason_ = std::move(reason);
  }

  // A broker has answered a call.
  void Clear() { Note({}); }

  // Empty: no broker turned us away since one answered.
  std::string reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  mutable std::mutex mutex_;
  std::string reason_;
};

}  // namespace fanline::kafka
