// Nodes that let a call wait in vain, known to all connections that share this. Such a node rests:
// for a second nobody asks it, then one caller does, and when it answers everybody does again. So a
// node that hangs keeps one thread waiting at a time, instead of every thread for a timeout each. A
// node that refuses, or is gone, answers at once and needs no rest.
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

  // False: the node rests. True: ask it, and tell what came of it. Of a node that was silent one
  // caller is told so, for `patience`: the longest that its call may take.
  [[nodiscard]] bool MayAsk(const Endpoint& node, Duration patience);
  void Silent(const Endpoint& node);
  void Answered(const Endpoint& node);

 private:
  const std::function<Time()> clock_;
  std::atomic<size_t> resting_ = 0;  // the usual case costs no lock
  std::mutex mutex_;
  std::map<std::string, Time> until_;  // by address; guarded by mutex_
};

}  // namespace fanline::redis
