// What an installation of a given size needs, computed from measurements. Pure; any thread.
// Processor time is a linear function (cost.h) per process. Cores are those of the measured
// machine; for another kind of machine, measure there. The plan does not extrapolate: fewer ranges
// than measured do not count as cheaper, and above the highest measured load it names no lag.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fanline/ports/live_timelines.h"
#include "feedctl/capacity/audience.h"
#include "feedctl/capacity/cost.h"

namespace fanline::feedctl {

// Publish to last delivery, in seconds.
struct Lag {
  double p50 = 0;
  double p99 = 0;
};

struct MeasuredLag {
  Work work;
  Lag lag;
};

// The measurements, all from one machine.
struct Constants {
  std::string machine = {};
  double cores = 0;                        // the machine's
  uint32_t ranges = 0;                     // of the measured installation
  double timeline_bytes = 0;               // in Redis, for a live timeline ...
  double timeline_items = 0;               // ... with this many items
  std::map<std::string, Cost> costs = {};  // by process: "redis", "pusher", ...
  std::vector<MeasuredLag> lags = {};
};

struct Demand {
  double users = 0;
  double live_ratio = 0;            // share of users with a live timeline
  double live_followers_ratio = 0;  // the same share of an author's followers
  Audience audience = {};
  double posts_per_s = 0;
  WindowLimits window = {};
  double load = 0.5;    // largest share of the cores to be busy
  double cores = 0;     // available; 0: as many as `load` requires
  uint32_t ranges = 0;  // 0: as suggested
};

struct Plan {
  double live_timelines = 0;
  double bytes_per_timeline = 0;
  double redis_bytes = 0;      // of all timelines
  double maxmemory_bytes = 0;  // for each master, with room above its share; at least 64 MiB
  Work work = {};
  double deliveries_per_s = 0;
  double hints_per_s = 0;
  std::map<std::string, double> busy = {};  // cores, by process
  double busy_cores = 0;
  double cores = 0;
  uint32_t masters = 0;  // of Redis; each needs a core of its own
  uint32_t ranges = 0;   // partitions of the tasks topic
  uint32_t feed_partitions = 0;
  std::optional<Lag> lag = {};  // none: the load is above the measured ones
  double measured_load = 0;     // the highest measured load with a lag
  // How much longer a post of the author with most followers takes: all its work on the idle cores.
  // None: no core is idle.
  std::optional<double> largest_s = {};
};

[[nodiscard]] Plan PlanFor(const Demand& demand, const Constants& measured);

}  // namespace fanline::feedctl
