#include "fanline/base/log_limiter.h"

namespace fanline {

LogLimiter::LogLimiter(LogSink sink, std::function<Time()> clock)
    : sink_(std::move(sink)), clock_(std::move(clock)) {}

void LogLimiter::Log(LogLevel level, const std::string& key, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (!sink_) return;
  const auto held_back = limit_.Pass(key, kInterval, clock_());
  if (!held_back) return;
  sink_(level, *held_back == 0
                   ? message
                   : message + " (and " + std::to_string(*held_back) + " times more before)");
}

void LogLimiter::Log(LogLevel level, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (sink_) sink_(level, message);
}

void LogLimiter::Silence() {
  const std::lock_guard lock(mutex_);
  sink_ = nullptr;
}

}  // namespace fanline
