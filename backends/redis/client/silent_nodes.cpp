#include "backends/redis/client/silent_nodes.h"

namespace fanline::redis {

bool SilentNodes::MayAsk(const Endpoint& node, Duration patience) {
  if (resting_ == 0) return true;
  const std::lock_guard lock(mutex_);
  const auto resting = until_.find(ToString(node));
  if (resting == until_.end()) return true;
  const Time now = clock_();
  if (now < resting->second) return false;
  resting->second = now + patience;
  return true;
}

void SilentNodes::Silent(const Endpoint& node) {
  const std::lock_guard lock(mutex_);
  until_[ToString(node)] = clock_() + kRest;
  resting_ = until_.size();
}

void SilentNodes::Answered(const Endpoint& node) {
  if (resting_ == 0) return;
  const std::lock_guard lock(mutex_);
  until_.erase(ToString(node));
  resting_ = until_.size();
}

}  // namespace fanline::redis
