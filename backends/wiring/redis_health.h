// Shows Redis on /readyz of a pusher. The pusher is ready only if every node that serves its own
// ranges answers. Other nodes that are away are named, but the pusher stays ready. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "backends/redis/live_timelines.h"
#include "daemon/observe/health.h"

namespace fanline::wiring {

class RedisHealth {
 public:
  // `health` outlives this object.
  explicit RedisHealth(daemon::Health& health) : health_(health) {}

  // All ranges that are not served, as RedisLiveTimelines reports them.
  void Away(std::vector<redis::RangesAway> away);
  // All ranges of this pusher, in order.
  void Own(std::vector<Range> own);

 private:
  void State();  // with mutex_ held

  daemon::Health& health_;
  std::mutex mutex_;                                    // guards the next two
  std::optional<std::vector<redis::RangesAway>> away_;  // none: not known yet
  std::vector<Range> own_;
};

}  // namespace fanline::wiring
