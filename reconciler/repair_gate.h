// Holds checks and repairs back, for all reconcilers of one process together. Four things decide:
// the mode; a throttle per shard of reverse rows; the last known state of that shard's breaker
// (fanline/ports/removal_allowance.h); and a memory of verdicts that were seen once. Passive, not
// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fanline/base/throttle.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/ports/operator_modes.h"
#include "fanline/ports/removal_allowance.h"
#include "reconciler/verdict.h"

namespace fanline::reconciler {

struct GateLimits {
  uint32_t checks_per_second = 500;  // per shard; about 1% of 50,000 changes
  uint32_t checks_burst = 1'000;
  uint32_t removals_per_minute = 1'000;                   // per shard, of all reconcilers
  Duration second_check_after = std::chrono::seconds(3);  // the grace of a pair
  // How long edges that looked wrong are remembered, and how many of them. The longest wait for a
  // second check is the back-off of the retries.
  Duration suspect_for = std::chrono::minutes(30);
  uint32_t suspects = 100'000;
};

class RepairGate {
 public:
  RepairGate(const GateLimits& limits, Shard shards)
      : limits_(limits),
        throttles_(shards, Throttle(limits.checks_per_second, limits.checks_burst)),
        opened_(shards, 0) {}

  Throttle& throttle(Shard shard) { return throttles_.at(shard); }
  Shard shards() const { return static_cast<Shard>(throttles_.size()); }

  // kPause until the mode is read for the first time.
  ReconcilerMode mode() const { return mode_.value_or(ReconcilerMode::kPause); }
  // `closings` of the breakers by operators so far; a higher number closes them all.
  void SetMode(ReconcilerMode mode, uint64_t closings = 0) {
    mode_ = mode;
    closings_ = closings;
  }

  // Whether an application's mirror lags by more than a grace: its rows are on their way.
  bool mirror_behind() const { return mirror_behind_; }
  void SetMirrorBehind(bool behind) { mirror_behind_ = behind; }

  // Whether removals from this shard are known to be stopped. A process that has not asked since it
  // started does not know.
  bool BreakerOpen(Shard shard) const { return opened_.at(shard) > closings_; }
  // The request for `wanted` removals, on behalf of this process.
  TakeRemovals Asking(uint64_t id, Shard shard, uint32_t wanted) const {
    return {id, shard, wanted, limits_.removals_per_minute, closings_};
  }
  // The answer to `asked`.
  void Given(const TakeRemovals& asked, uint32_t granted) {
    if (granted < asked.wanted) opened_.at(asked.shard) = asked.closings + 1;
  }

  // Whether an earlier check came to the same verdict, at least `second_check_after` ago. If no
  // earlier check did, this one is remembered as the first.
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

  const GateLimits limits_;
  std::vector<Throttle> throttles_;  // by shard
  std::vector<uint64_t> opened_;     // 1 + closings when its breaker was found open; 0: never
  uint64_t closings_ = 0;
  std::optional<ReconcilerMode> mode_;
  bool mirror_behind_ = false;
  std::unordered_map<EdgeKey, std::pair<Verdict, Time>> suspects_;  // and when first seen
  std::deque<std::pair<Time, EdgeKey>> order_;
};

}  // namespace fanline::reconciler
