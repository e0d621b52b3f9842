// Holds a consumer's fetching back until a moment: what the log gets meanwhile comes with one
// answer, where each record would have an answer of its own. An answer that arrives earlier is not
// looked at before, and so no further fetch is sent. When nobody asks for a rest, nothing waits.
//
// It sleeps in librdkafka's thread of that broker, which librdkafka advises against: the thread
// does nothing else meanwhile. Here that is the purpose. Heartbeats and commits have a connection
// and a thread of their own, that of the group's coordinator; the rest is bounded.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "fanline/base/time.h"

namespace fanline::kafka {

class FetchRest {
 public:
  static constexpr Duration kLongest = std::chrono::seconds(1);

  // Any thread. A moment that has passed ends the rest, but nobody is woken.
  void Until(Time moment) { until_.store(moment, std::memory_order_relaxed); }

  // In the thread that fetches: sleeps until the moment, at most kLongest.
  void Take() const {
    const Time until = until_.load(std::memory_order_relaxed);
    const auto now = std::chrono::time_point_cast<Duration>(Clock::now());
    if (until > now) std::this_thread::sleep_until(std::min(until, now + kLongest));
  }

 private:
  std::atomic<Time> until_{Time{}};
};

}  // namespace fanline::kafka
