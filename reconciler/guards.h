// What holds checks and repairs back, for all nets of one process together: the mode, a throttle
// and a breaker per shard of reverse rows, and the memory of what looked wrong once.
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fanline/bucket.h"
#include "fanline/edge.h"
#include "fanline/reconciler_mode.h"
#include "reconciler/breaker.h"
#include "reconciler/throttle.h"
#include "reconciler/verdict.h"

namespace fanline::reconciler {

struct GuardLimits {
  uint32_t checks_per_second = 500;  // per shard; about 1% of 50,000 changes
  uint32_t checks_burst = 1'000;
  BreakerLimits breaker;
  Duration second_check_after = std::chrono::seconds(3);  // the grace of a pair
  // What looked wrong is known for so long, and so many edges of it; the longest wait for a second
  // check is the back-off of the retries.
  Duration suspect_for = std::chrono::minutes(30);
  uint32_t suspects = 100'000;
};

class Guards {
 public:
  Guards(const GuardLimits& limits, Shard shards) : limits_(limits) {
    for (Shard shard = 0; shard < shards; ++shard) {
      throttles_.emplace_back(limits.checks_per_second, limits.checks_burst);
      breakers_.emplace_back(limits.breaker);
    }
  }

  Throttle& throttle(Shard shard) { return throttles_.at(shard); }
  Breaker& breaker(Shard shard) { return breakers_.at(shard); }
  Shard shards() const { return static_cast<Shard>(breakers_.size()); }

  // Until it was read for the first time nothing is checked.
  ReconcilerMode mode() const { return mode_.value_or(ReconcilerMode::kPause); }
  // Back to kRun from another mode: the operator has looked, so the breakers close. True: they did.
  bool SetMode(ReconcilerMode mode) {
    const bool back = mode_ && *mode_ != mode && mode == ReconcilerMode::kRun;
    mode_ = mode;
    if (!back) return false;
    for (Breaker& breaker : breakers_) breaker.Close();
    return true;
  }

  // Whether an earlier check, long enough ago, came to the very same; if none did, this one is
  // remembered as the first.
  [[nodiscard]] bool Confirmed(const EdgeKey& edge, const Verdict& verdict, Time now) {
    Forget(now);
    const auto found = suspects_.find(edge);
    if (found != suspects_.end() && found->second.first == verdict) {
      return now >= found->second.second + limits_.second_check_after;
    }
    suspects_[edge] = {verdict, now};
    order_.emplace_back(now, edge);
    return false;
  }

 private:
  void Forget(Time now) {
    while (!order_.empty() &&
           (order_.size() > limits_.suspects || order_.front().first + limits_.suspect_for < now)) {
      const auto found = suspects_.find(order_.front().second);
      if (found != suspects_.end() && found->second.second == order_.front().first) {
        suspects_.erase(found);
      }
      order_.pop_front();
    }
  }

  const GuardLimits limits_;
  std::vector<Throttle> throttles_;  // by shard
  std::vector<Breaker> breakers_;
  std::optional<ReconcilerMode> mode_;
  std::unordered_map<EdgeKey, std::pair<Verdict, Time>> suspects_;  // first seen so
  std::deque<std::pair<Time, EdgeKey>> order_;
};

}  // namespace fanline::reconciler
