// Holds a consumer's fetches back until a moment, so that records which reach the log meanwhile
// come in one answer instead of one each. An answer that arrives earlier is not processed before
// that moment, so no further fetch is sent. Nothing waits unless a rest was asked for.
//
// It sleeps in librdkafka's thread of that broker. librdkafka advises against this because the
// thread does nothing else meanwhile, but here that is the purpose. Heartbeats and commits use the
// coordinator's connection and thread. The rest is bounded.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "fanline/base/mono_now.h"

namespace fanline::kafka {

class FetchRest {
 public:
  static constexpr Duration kLongest = std::chrono::seconds(1);

  // Any thread. A moment in the past ends the rest; a thread that sleeps already is not woken.
  void Until(Time moment) { until_.store(moment, std::memory_order_relaxed); }

  // In the thread that fetches: sleeps until the moment, at most kLongest.
  void Take() const {
    const Time until = until_.load(std::memory_order_relaxed);
    const Time now = MonoNow();
    if (until > now) std::this_thread::sleep_until(std::min(until, now + kLongest));
  }

 private:
  std::atomic<Time> until_{Time{}};
};

}  // namespace fanline::kafka
