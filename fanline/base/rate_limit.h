// Decides which of many equal messages are worth a line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fanline/base/time.h"

namespace fanline {

// Passive, not thread-safe.
class RateLimit {
 public:
  // Keys beyond this many share one allowance, so that keys made of data cannot fill the memory.
  static constexpr size_t kMaxKeys = 1000;

  // Lets the first event of `key` pass, then one per `interval`. Returns how many events were held
  // back since the last that passed; none: hold this one back.
  [[nodiscard]] std::optional<uint64_t> Pass(std::string_view key, Duration interval, Time now) {
    State& state = StateOf(key);
    if (state.passed && now - *state.passed < interval) {
      ++state.held_back;
      return std::nullopt;
    }
    state.passed = now;
    return std::exchange(state.held_back, 0);
  }

 private:
  struct State {
    std::optional<Time> passed;
    uint64_t held_back = 0;
  };
  State& StateOf(std::string_view key) {
    const auto found = states_.find(key);
    if (found != states_.end()) return found->second;
    if (states_.size() >= kMaxKeys) return others_;
    return states_[std::string(key)];
  }

  std::map<std::string, State, std::less<>> states_;
  State others_;
};

}  // namespace fanline
