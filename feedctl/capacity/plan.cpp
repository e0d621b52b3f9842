#include "feedctl/capacity/plan.h"

#include <algorithm>
#include <cmath>

#include "feedctl/support/suggested_ranges.h"

namespace fanline::feedctl {
namespace {

constexpr uint32_t kLeastFeedPartitions = 8;
constexpr double kRoomAbove = 1.25;  // for fragmentation, replica buffers, rewrites
// An empty Redis with its connections takes some MiB, and maxmemory 0 means no limit.
constexpr double kLeastMaxmemory = 64 * 1024 * 1024;
constexpr uint32_t kAllRangesBelow = 64;  // above, ranges without a follower get no hint

// A timeline grows from the window to the size at which it is trimmed; this is the middle.
double ItemsOf(const WindowLimits& window) {
  return (window.window + std::max(window.window, window.trim_above() - 2)) / 2.0;
}

double HintsOf(uint32_t ranges, double followers) {
  if (ranges < kAllRangesBelow) return ranges;
  return ranges * (1 - std::pow(1 - 1.0 / ranges, followers));
}

uint32_t CountOf(double needed, double least) {
  return static_cast<uint32_t>(std::min(std::max(std::ceil(needed), least), 1e9));
}

Cost AtRanges(Cost cost, double hints, uint32_t measured_ranges) {
  cost.event *= std::max(1.0, hints / measured_ranges);
  return cost;
}

double BusyOf(const Constants& measured, const Work& work) {
  double busy = 0;
  for (const auto& [process, cost] : measured.costs) busy += CoresOf(cost, work);
  return busy;
}

// Interpolates between two measured loads; below all of them it is the lowest one's.
std::optional<Lag> LagAt(double load, const std::map<double, Lag>& by_load) {
  const auto above = by_load.lower_bound(load);
  if (above == by_load.end()) return std::nullopt;
  if (above == by_load.begin()) return above->second;
  const auto& [low, low_lag] = *std::prev(above);
  const double share = (load - low) / (above->first - low);
  return Lag{low_lag.p50 + share * (above->second.p50 - low_lag.p50),
             low_lag.p99 + share * (above->second.p99 - low_lag.p99)};
}

void PlanRedis(const Demand& demand, const Constants& measured, Plan& plan) {
  plan.live_timelines = demand.users * demand.live_ratio;
  plan.bytes_per_timeline =
      measured.timeline_bytes * ItemsOf(demand.window) / measured.timeline_items;
  plan.redis_bytes = plan.live_timelines * plan.bytes_per_timeline;
}

// Redis' work determines the masters, which may need more ranges, which make events more expensive
// for Redis. Both only grow, and there are at most kBuckets ranges, so this ends.
void PlanRanges(const Demand& demand, const Constants& measured, Plan& plan) {
  const auto redis = measured.costs.find("redis");
  const Cost cost = redis == measured.costs.end() ? Cost() : redis->second;
  const auto live = static_cast<uint64_t>(std::min(plan.live_timelines, 1e18));
  uint32_t needed = 1;
  do {
    plan.masters = needed;
    plan.ranges = demand.ranges > 0 ? demand.ranges : SuggestedRanges(plan.masters, live);
    const double hints = HintsOf(plan.ranges, plan.work.followers);
    const double busy = CoresOf(AtRanges(cost, hints, measured.ranges), plan.work);
    needed = CountOf(busy / demand.load, 1);
  } while (needed > plan.masters);
  plan.maxmemory_bytes = std::max(plan.redis_bytes / plan.masters * kRoomAbove, kLeastMaxmemory);
}

void PlanCores(const Demand& demand, const Constants& measured, Plan& plan) {
  const double hints = HintsOf(plan.ranges, plan.work.followers);
  plan.hints_per_s = plan.work.events_per_s * hints;
  Cost all;
  for (const auto& [process, cost] : measured.costs) {
    const Cost here = AtRanges(cost, hints, measured.ranges);
    plan.busy[process] = CoresOf(here, plan.work);
    plan.busy_cores += plan.busy[process];
    all.follower += here.follower;
    all.delivery += here.delivery;
  }
  plan.cores =
      demand.cores > 0 ? demand.cores : std::max(1.0, std::ceil(plan.busy_cores / demand.load));
  const auto dispatcher = plan.busy.find("dispatcher");
  const double dispatchers = dispatcher == plan.busy.end() ? 0 : dispatcher->second / demand.load;
  plan.feed_partitions = CountOf(2 * dispatchers, kLeastFeedPartitions);
  const double idle = plan.cores - plan.busy_cores;
  if (idle <= 0) return;
  plan.largest_s =
      demand.audience.most * (all.follower + demand.live_followers_ratio * all.delivery) / idle;
}

void PlanLag(const Constants& measured, Plan& plan) {
  std::map<double, Lag> by_load;
  for (const MeasuredLag& one : measured.lags) {
    by_load[BusyOf(measured, one.work) / measured.cores] = one.lag;
  }
  plan.measured_load = by_load.empty() ? 0 : by_load.rbegin()->first;
  plan.lag = LagAt(plan.busy_cores / plan.cores, by_load);
}

}  // namespace

Plan PlanFor(const Demand& demand, const Constants& measured) {
  Plan plan;
  const double followers = demand.audience.mean_of_posts;
  plan.work = {demand.posts_per_s, followers, followers * demand.live_followers_ratio};
  plan.deliveries_per_s = plan.work.events_per_s * plan.work.live;
  PlanRedis(demand, measured, plan);
  PlanRanges(demand, measured, plan);
  PlanCores(demand, measured, plan);
  PlanLag(measured, plan);
  return plan;
}

}  // namespace fanline::feedctl
