#include "fanline/base/rate_limit.h"

#include <utility>

namespace fanline {

std::optional<uint64_t> RateLimit::Pass(std::string_view key, Duration interval, Time now) {
  State& state = StateOf(key);
  if (state.passed && now - *state.passed < interval) {
    ++state.held_back;
    return std::nullopt;
  }
  state.passed = now;
  return std::exchange(state.held_back, 0);
}

RateLimit::State& RateLimit::StateOf(std::string_view key) {
  const auto found = states_.find(key);
  if (found != states_.end()) return found->second;
  if (states_.size() >= kMaxKeys) return others_;
  return states_[std::string(key)];
}

}  // namespace fanline
