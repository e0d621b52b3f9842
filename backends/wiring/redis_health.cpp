#include "backends/wiring/redis_health.h"

#include <algorithm>
#include <string>

namespace fanline::wiring {
namespace {

bool Meet(const std::vector<Range>& one, const std::vector<Range>& other) {
  return std::any_of(one.begin(), one.end(), [&](Range range) {
    return std::binary_search(other.begin(), other.end(), range);
  });
}

}  // namespace

void RedisHealth::Away(std::vector<redis::RangesAway> away) {
  const std::lock_guard lock(mutex_);
  away_ = std::move(away);
  State();
}

void RedisHealth::Own(std::vector<Range> own) {
  const std::lock_guard lock(mutex_);
  if (own == own_) return;
  own_ = std::move(own);
  State();
}

void RedisHealth::State() {
  if (!away_) return;
  auto reach = away_->empty() ? daemon::Reach::kWhole : daemon::Reach::kEnough;
  std::string reasons;
  for (const redis::RangesAway& away : *away_) {
    if (Meet(own_, away.ranges)) reach = daemon::Reach::kAway;
    reasons += (reasons.empty() ? "" : "; ") + away.reason;
  }
  health_.SetReach("redis", "redis", reach, reasons);
}

}  // namespace fanline::wiring
