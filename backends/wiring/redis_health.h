// Shows Redis on /readyz of a pusher. The pusher is ready only if every node that serves its own
// ranges answers. Other nodes that are away are named, but the pusher stays ready. Thread-safe.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/redis/live_timelines.h"
#include "daemon/observe/health.h"

namespace fanline::wiring {

class RedisHealth {
 public:
  // `health` outlives this object.
  explicit RedisHealth(daemon::Health& health) : health_(health) {}

  // All ranges that are not served, as RedisLiveTimelines reports them.
  void Away(std::vector<redis::RangesAway> away) {
    const std::lock_guard lock(mutex_);
    away_ = std::move(away);
    State();
  }
  // All ranges of this pusher, in order.
  void Own(std::vector<Range> own) {
    const std::lock_guard lock(mutex_);
    if (own == own_) return;
    own_ = std::move(own);
    State();
  }

 private:
  void State() {  // with mutex_ held
    if (!away_) return;
    auto reach = away_->empty() ? daemon::Reach::kWhole : daemon::Reach::kEnough;
    std::string reasons;
    for (const redis::RangesAway& away : *away_) {
      const bool ours = std::any_of(own_.begin(), own_.end(), [&](Range range) {
        return std::binary_search(away.ranges.begin(), away.ranges.end(), range);
      });
      if (ours) reach = daemon::Reach::kAway;
      reasons += (reasons.empty() ? "" : "; ") + away.reason;
    }
    health_.SetReach("redis", "redis", reach, reasons);
  }

  daemon::Health& health_;
  std::mutex mutex_;                                    // guards the next two
  std::optional<std::vector<redis::RangesAway>> away_;  // none: not known yet
  std::vector<Range> own_;
};

}  // namespace fanline::wiring
