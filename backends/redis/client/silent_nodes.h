// Nodes whose calls timed out, shared by several connections. Such a node rests: nobody asks it for
// a second, then one caller does, and once it answers everybody may again. So a node that hangs
// blocks one thread at a time instead of all. A node that refuses or is gone fails at once and
// needs no rest.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "fanline/base/endpoint.h"
#include "fanline/base/time.h"

namespace fanline::redis {

class SilentNodes {
 public:
  static constexpr Duration kRest = std::chrono::seconds(1);

  explicit SilentNodes(std::function<Time()> clock) : clock_(std::move(clock)) {}

  // False: the node rests. True: ask it, then report Silent or Answered. For a node that was
  // silent, one caller gets true within `patience`, the longest that its call may take.
  [[nodiscard]] bool MayAsk(const Endpoint& node, Duration patience) {
    if (resting_ == 0) return true;
    const std::lock_guard lock(mutex_);
    const auto resting = until_.find(ToString(node));
    if (resting == until_.end()) return true;
    const Time now = clock_();
    if (now < resting->second) return false;
    resting->second = now + patience;
    return true;
  }
  void Silent(const Endpoint& node) {
    const std::lock_guard lock(mutex_);
    until_[ToString(node)] = clock_() + kRest;
    resting_ = until_.size();
  }
  void Answered(const Endpoint& node) {
    if (resting_ == 0) return;
    const std::lock_guard lock(mutex_);
    until_.erase(ToString(node));
    resting_ = until_.size();
  }

 private:
  const std::function<Time()> clock_;
  std::atomic<size_t> resting_ = 0;  // zero, the usual case, needs no lock
  std::mutex mutex_;
  std::map<std::string, Time> until_;  // by address; guarded by mutex_
};

}  // namespace fanline::redis
