// Items to try again, each after a back-off of its own. The item that is due first comes first.
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline {

template <typename What>
class RetryQueue {
 public:
  explicit RetryQueue(const Backoff& backoff) : backoff_(backoff) {}

  // `attempt` counts from 1; `random`: any 64 bits.
  void Add(What what, uint32_t attempt, Time now, uint64_t random) {
    waiting_.emplace(now + backoff_.Delay(attempt, random), std::move(what));
  }
  // The next that is due.
  [[nodiscard]] std::optional<What> Take(Time now) {
    if (waiting_.empty() || waiting_.begin()->first > now) return std::nullopt;
    return std::move(waiting_.extract(waiting_.begin()).mapped());
  }
  [[nodiscard]] std::optional<Time> timer() const {
    return waiting_.empty() ? std::nullopt : std::optional(waiting_.begin()->first);
  }

 private:
  const Backoff backoff_;
  std::multimap<Time, What> waiting_;
};

}  // namespace fanline
