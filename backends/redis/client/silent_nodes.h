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
  [[nodiscard]] bool MayAsk(const Endpoint& node, Duration patience);
  void Silent(const Endpoint& node);
  void Answered(const Endpoint& node);

 private:
  const std::function<Time()> clock_;
  std::atomic<size_t> resting_ = 0;  // zero, the usual case, needs no lock
  std::mutex mutex_;
  std::map<std::string, Time> until_;  // by address; guarded by mutex_
};

}  // namespace fanline::redis
