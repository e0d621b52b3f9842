#include "fanline/consuming/shard_queue.h"

#include <algorithm>

namespace fanline {
namespace {

// Where jobs that are sorted by key, of several keys, are halved: no key is cut.
size_t BetweenKeys(const std::vector<ShardQueue::Job>& jobs) {
  const auto cuts = [&jobs](size_t at) { return jobs[at].key == jobs[at - 1].key; };
  size_t at = jobs.size() / 2;
  while (at < jobs.size() && cuts(at)) ++at;
  if (at < jobs.size()) return at;
  at = jobs.size() / 2;
  while (cuts(at)) --at;
  return at;
}

}  // namespace

void ShardQueue::Push(const Job& job) {
  if (!MoveIfLocked(job)) waiting_.push_back(job);
}

std::optional<ShardQueue::Batch> ShardQueue::Take(Time now) {
  if (retry_at_ && *retry_at_ > now) return std::nullopt;
  retry_at_.reset();
  if (auto batch = TakeLocked(now)) return batch;
  if (under_way_ >= limits_.batches) return std::nullopt;
  Batch batch;
  while (batch.jobs.empty() && !halves_.empty()) {
    for (const Job& job : halves_.front()) {
      if (!MoveIfLocked(job)) batch.jobs.push_back(job);
    }
    halves_.pop_front();
  }
  const bool half = !batch.jobs.empty();
  while (!half && batch.jobs.size() < limits_.jobs && !waiting_.empty()) {
    if (!MoveIfLocked(waiting_.front())) batch.jobs.push_back(waiting_.front());
    waiting_.pop_front();
  }
  if (batch.jobs.empty()) return std::nullopt;
  ++under_way_;
  return batch;
}

std::optional<ShardQueue::Batch> ShardQueue::TakeLocked(Time now) {
  if (trying_) return std::nullopt;
  auto next = locked_.end();
  for (auto each = locked_.begin(); each != locked_.end(); ++each) {
    if (each->second.jobs.empty()) continue;
    if (next == locked_.end() || each->second.at < next->second.at) next = each;
  }
  if (next == locked_.end() || next->second.at > now) return std::nullopt;
  auto& [key, locked] = *next;
  const auto count =
      static_cast<std::ptrdiff_t>(std::min({locked.jobs.size(), locked.most, limits_.jobs}));
  Batch batch{{locked.jobs.begin(), locked.jobs.begin() + count}, key};
  locked.jobs.erase(locked.jobs.begin(), locked.jobs.begin() + count);
  trying_ = key;
  return batch;
}

bool ShardQueue::MoveIfLocked(const Job& job) {
  const auto locked = locked_.find(job.key);
  if (locked == locked_.end()) return false;
  locked->second.jobs.push_back(job);
  return true;
}

void ShardQueue::End(const Batch& batch) { batch.locked ? trying_.reset() : void(--under_way_); }

void ShardQueue::Done(const Batch& batch, Time now) {
  End(batch);
  attempts_ = 0;
  if (!batch.locked) return;
  LockedKey& locked = locked_[*batch.locked];
  locked.most = std::min(2 * locked.most, limits_.jobs);
  locked.attempts = 0;
  locked.at = now;
  if (locked.jobs.empty()) locked_.erase(*batch.locked);
}

void ShardQueue::Drop(const Batch& batch) {
  End(batch);
  if (batch.locked && locked_[*batch.locked].jobs.empty()) locked_.erase(*batch.locked);
}

void ShardQueue::Away(const Batch& batch, Time now, uint64_t random) {
  End(batch);
  WaitAgain(batch);
  if (!retry_at_ || *retry_at_ <= now) retry_at_ = now + limits_.backoff.Delay(++attempts_, random);
}

void ShardQueue::Locked(Batch batch, Time now, uint64_t random) {
  End(batch);
  attempts_ = 0;
  Jobs& jobs = batch.jobs;
  if (jobs.empty()) return;
  const uint64_t key = jobs.front().key;
  const bool one_key =
      std::all_of(jobs.begin(), jobs.end(), [key](const Job& job) { return job.key == key; });
  if (!one_key) {
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job& one, const Job& other) { return one.key < other.key; });
    return Halve(jobs, BetweenKeys(jobs));
  }
  LockedKey& locked = locked_[key];
  if (jobs.size() > 1) {
    locked.jobs.insert(locked.jobs.begin(), jobs.begin(), jobs.end());
    locked.most = jobs.size() / 2;
    locked.at = now;
  } else {  // the others of its key come first: the lock may be on this job's own row
    locked.jobs.push_back(jobs.front());
    locked.most = 1;
    locked.at = now + limits_.backoff.Delay(++locked.attempts, random);
  }
}

bool ShardQueue::Split(const Batch& batch, Time now) {
  if (batch.jobs.size() <= 1) {
    Done(batch, now);
    return false;
  }
  End(batch);
  attempts_ = 0;
  if (batch.locked) {
    WaitAgain(batch);
    locked_[*batch.locked].most = batch.jobs.size() / 2;
  } else {
    Halve(batch.jobs, batch.jobs.size() / 2);
  }
  return true;
}

void ShardQueue::WaitAgain(const Batch& batch) {
  if (batch.locked) {
    auto& jobs = locked_[*batch.locked].jobs;
    jobs.insert(jobs.begin(), batch.jobs.begin(), batch.jobs.end());
  } else {
    waiting_.insert(waiting_.begin(), batch.jobs.begin(), batch.jobs.end());
  }
}

void ShardQueue::Halve(const Jobs& jobs, size_t at) {
  const auto middle = jobs.begin() + static_cast<std::ptrdiff_t>(at);
  halves_.emplace_back(jobs.begin(), middle);
  halves_.emplace_back(middle, jobs.end());
}

std::optional<Time> ShardQueue::timer() const {
  if (retry_at_) return retry_at_;
  std::optional<Time> next;
  if (trying_) return next;
  for (const auto& [key, locked] : locked_) {
    if (!locked.jobs.empty()) next = Earlier(next, locked.at);
  }
  return next;
}

}  // namespace fanline
