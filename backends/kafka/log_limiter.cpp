#include "backends/kafka/log_limiter.h"

#include <utility>

namespace fanline::kafka {

LogLimiter::LogLimiter(LogSink sink, std::function<Time()> clock)
    : sink_(std::move(sink)), clock_(std::move(clock)) {}

void LogLimiter::Log(LogLevel level, const std::string& key, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (!sink_) return;
  if (states_.size() >= kMaxKeys && !states_.contains(key)) states_.clear();
  const Time now = clock_();
  auto [state, first] = states_.try_emplace(key);
  if (!first && now - state->second.passed < kInterval) {
    ++state->second.held_back;
    return;
  }
  const uint64_t held_back = std::exchange(state->second.held_back, 0);
  state->second.passed = now;
  sink_(level, held_back == 0
                   ? message
                   : message + " (and " + std::to_string(held_back) + " times more before)");
}

void LogLimiter::Log(LogLevel level, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (sink_) sink_(level, message);
}

void LogLimiter::Silence() {
  const std::lock_guard lock(mutex_);
  sink_ = nullptr;
}

}  // namespace fanline::kafka
