// What an installation of some size needs, from what was measured on a machine. Pure; any thread.
//
// Processor time is a line (cost.h) per process. Cores are those of the measured machine; on
// another kind, measure there. Nothing is promised that was not measured: fewer ranges than were
// measured are not taken to be cheaper, and above the highest load that was measured no lag is
// named.
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

// What was measured, all on one machine.
struct Constants {
  std::string machine = {};
  double cores = 0;                        // it has
  uint32_t ranges = 0;                     // of the installation that was measured
  double timeline_bytes = 0;               // of Redis, for a live timeline ...
  double timeline_items = 0;               // ... of so many items
  std::map<std::string, Cost> costs = {};  // by process: "redis", "pusher", ...
  std::vector<MeasuredLag> lags = {};
};

struct Demand {
  double users = 0;
  double live_ratio = 0;            // of users, those with a live timeline
  double live_followers_ratio = 0;  // of an author's followers, those
  Audience audience = {};
  double posts_per_s = 0;
  WindowLimits window = {};
  double load = 0.5;    // of the cores, at most so much is to be busy
  double cores = 0;     // that there are; 0: as many as `load` asks for
  uint32_t ranges = 0;  // 0: as suggested
};

struct Plan {
  double live_timelines = 0;
  double bytes_per_timeline = 0;
  double redis_bytes = 0;      // of all timelines
  double maxmemory_bytes = 0;  // of each master: its share of them and room above, 64 MiB at least
  Work work = {};
  double deliveries_per_s = 0;
  double hints_per_s = 0;
  std::map<std::string, double> busy = {};  // cores, by process
  double busy_cores = 0;
  double cores = 0;
  uint32_t masters = 0;  // of Redis, each of which has one core to itself
  uint32_t ranges = 0;   // partitions of the tasks topic
  uint32_t feed_partitions = 0;
  std::optional<Lag> lag = {};  // none: more load than was measured
  double measured_load = 0;     // the highest with a lag
  // Beside the lag, for a post of the author with most followers: all its work on the idle cores.
  // None: no core is idle.
  std::optional<double> largest_s = {};
};

[[nodiscard]] Plan PlanFor(const Demand& demand, const Constants& measured);

}  // namespace fanline::feedctl
