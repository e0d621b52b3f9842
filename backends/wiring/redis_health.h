// How Redis shows on /readyz of a pusher. It must have every node that serves a range of its own; a
// node that is away elsewhere is named, and the pusher stays ready. Thread-safe.
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

  // All ranges that are not served, as RedisLiveTimelines tells it.
  void Away(std::vector<redis::RangesAway> away);
  // All ranges of this pusher, in order.
  void Own(std::vector<Range> own);

 private:
  void State();  // under mutex_

  daemon::Health& health_;
  std::mutex mutex_;                                    // the next two
  std::optional<std::vector<redis::RangesAway>> away_;  // none: not known yet
  std::vector<Range> own_;
};

}  // namespace fanline::wiring
