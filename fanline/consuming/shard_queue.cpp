#include "fanline/consuming/shard_queue.h"

#include <algorithm>
#include <utility>

namespace fanline {

std::optional<ShardQueue::Jobs> ShardQueue::Take(Time now) {
  if (retry_at_ && *retry_at_ > now) return std::nullopt;
  retry_at_.reset();
  if (under_way_ >= limits_.transactions) return std::nullopt;
  Jobs jobs;
  if (!halves_.empty()) {
    jobs = std::move(halves_.front());
    halves_.pop_front();
  } else {
    const size_t count = std::min(waiting_.size(), limits_.jobs);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    jobs.assign(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
  }
  if (jobs.empty()) return std::nullopt;
  ++under_way_;
  return jobs;
}

void ShardQueue::Done() {
  --under_way_;
  attempts_ = 0;
}

void ShardQueue::Away(const Jobs& jobs, Time now, uint64_t random) {
  --under_way_;
  waiting_.insert(waiting_.begin(), jobs.begin(), jobs.end());
  if (!retry_at_ || *retry_at_ <= now) retry_at_ = now + limits_.backoff.Delay(++attempts_, random);
}

bool ShardQueue::Split(const Jobs& jobs) {
  Done();
  if (jobs.size() == 1) return false;
  const auto middle = jobs.begin() + static_cast<std::ptrdiff_t>(jobs.size() / 2);
  halves_.emplace_back(jobs.begin(), middle);
  halves_.emplace_back(middle, jobs.end());
  return true;
}

}  // namespace fanline
