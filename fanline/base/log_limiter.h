// Passes an adapter's log lines on, equal ones once per interval: librdkafka repeats itself several
// times a second for as long as a broker is away, and so do the requests to a shard that refuses.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "fanline/base/log_sink.h"
#include "fanline/base/rate_limit.h"
#include "fanline/base/time.h"

namespace fanline {

// Any thread.
class LogLimiter {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(10);

  explicit LogLimiter(LogSink sink, std::function<Time()> clock)
      : sink_(std::move(sink)), clock_(std::move(clock)) {}

  // Lines of one key count as equal. The first passes; the next to pass, after the interval, says
  // how many were held back.
  void Log(LogLevel level, const std::string& key, const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (!sink_) return;
    const auto held_back = limit_.Pass(key, kInterval, clock_());
    if (!held_back) return;
    sink_(level, *held_back == 0
                     ? message
                     : message + " (and " + std::to_string(*held_back) + " times more before)");
  }
  // Always passes.
  void Log(LogLevel level, const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (sink_) sink_(level, message);
  }
  // From now on nothing passes: the maker of the sink may be gone.
  void Silence() {
    const std::lock_guard lock(mutex_);
    sink_ = nullptr;
  }

 private:
  std::mutex mutex_;
  LogSink sink_;  // guarded by mutex_, also while it is called: Silence waits for a call
  const std::function<Time()> clock_;
  RateLimit limit_;  // guarded by mutex_
};

}  // namespace fanline
