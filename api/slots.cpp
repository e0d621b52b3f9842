#include "api/slots.h"

#include <algorithm>
#include <utility>

#include "fanline/base/check.h"

namespace fanline::api {

Touched Touched::Of(const std::vector<UserId>& owners, const ShardMap& map) {
  Touched touched{map.ShardOf(owners.front()), {}};
  for (const UserId user : owners) touched.all.push_back(map.ShardOf(user));
  std::sort(touched.all.begin(), touched.all.end());
  touched.all.erase(std::unique(touched.all.begin(), touched.all.end()), touched.all.end());
  return touched;
}

Touched Touched::Everywhere(UserId user, const ShardMap& map) {
  Touched touched{map.ShardOf(user), {}};
  for (Shard shard = 0; shard < map.shards(); ++shard) touched.all.push_back(shard);
  return touched;
}

Slots::Share Slots::ShareOf(size_t all, uint32_t shards) {
  if (shards == 1) return {all, all};
  return {std::max<size_t>(1, all * 3 / 4), std::max<size_t>(1, all / 2)};
}

Slots::Slots(size_t count, uint32_t shards, Limits limits)
    : limits_(limits),
      most_lent_(ShareOf(count, shards)),
      most_queued_(ShareOf(limits.queued, shards)),
      lent_(shards, 0),
      queued_(shards, 0),
      reachable_(shards, true) {
  FANLINE_CHECK(count > 0, "a pool has stores");
  for (size_t slot = 0; slot < count; ++slot) free_.push_back(slot);
  while (threads_.size() < count) threads_.emplace_back([this] { RunWhatWaits(); });
  threads_.emplace_back([this] { RefuseTheLate(); });
}

Slots::~Slots() {
  Queue refused;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    refused.swap(queue_);
    work_.notify_all();
    late_.notify_all();
  }
  RefuseAll(refused, Refusal::kOverloaded);
  for (std::thread& thread : threads_) thread.join();
}

void Slots::Submit(Touched touched, Work work, bool here) {
  Refusal refusal = Refusal::kNone;
  {
    std::unique_lock lock(mutex_);
    const bool full = queue_.size() >= limits_.queued ||
                      std::any_of(touched.all.begin(), touched.all.end(), [&](Shard shard) {
                        return queued_[shard] >= most_queued_.For(touched);
                      });
    if (!reachable_[touched.first]) {
      refusal = Refusal::kShardAway;
    } else if (full || stopping_) {
      refusal = Refusal::kOverloaded;
    } else if (here && queue_.empty() && HasRoom(touched)) {
      Run(touched, work, lock);
      if (!queue_.empty()) work_.notify_all();
      return;
    } else {
      const bool at_once = queue_.empty() && idle_ > 0 && HasRoom(touched);
      Enqueue(std::move(touched), std::move(work));
      if (!at_once) late_.notify_one();
      return;
    }
  }
  work(0, refusal);
}

bool Slots::TrySubmit(const Touched& touched, const Work& work) {
  {
    const std::lock_guard lock(mutex_);
    if (reachable_[touched.first]) {
      if (stopping_ || !queue_.empty() || !HasRoom(touched)) return false;
      Enqueue(touched, work);
      return true;
    }
  }
  work(0, Refusal::kShardAway);
  return true;
}

void Slots::Enqueue(Touched touched, Work work) {
  for (const Shard shard : touched.all) ++queued_[shard];
  queue_.push_back({std::move(touched), std::move(work), Clock::now() + limits_.longest_wait});
  work_.notify_one();
}

void Slots::SetReachable(Shard shard, bool reachable) {
  Queue refused;
  {
    const std::lock_guard lock(mutex_);
    reachable_[shard] = reachable;
    if (reachable) return;
    for (auto waiting = queue_.begin(); waiting != queue_.end();) {
      const auto here = waiting++;
      if (here->touched.first == shard) refused.push_back(Take(here));
    }
  }
  RefuseAll(refused, Refusal::kShardAway);
}

size_t Slots::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void Slots::Run(const Touched& touched, const Work& work, std::unique_lock<std::mutex>& lock) {
  const size_t slot = free_.back();  // came back last: its connections are warm
  free_.pop_back();
  for (const Shard shard : touched.all) ++lent_[shard];
  lock.unlock();
  work(slot, Refusal::kNone);
  lock.lock();
  for (const Shard shard : touched.all) --lent_[shard];
  free_.push_back(slot);
}

void Slots::RunWhatWaits() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto next = FirstThatMayRun();
    if (next == queue_.end()) {
      ++idle_;
      work_.wait(lock);
      --idle_;
      continue;
    }
    const Waiting taken = Take(next);
    Run(taken.touched, taken.work, lock);
    // This work leaves room on several shards: this thread takes one piece, others may take more.
    if (taken.touched.all.size() > 1 && !queue_.empty()) work_.notify_all();
  }
}

void Slots::RefuseTheLate() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      late_.wait(lock);
      continue;
    }
    const auto until = queue_.front().until;
    if (Clock::now() < until) {
      late_.wait_until(lock, until);
      continue;
    }
    Queue refused;
    refused.push_back(Take(queue_.begin()));
    lock.unlock();
    RefuseAll(refused, Refusal::kOverloaded);
    lock.lock();
  }
}

bool Slots::HasRoom(const Touched& touched) const {
  const size_t most = most_lent_.For(touched);
  return !free_.empty() && std::all_of(touched.all.begin(), touched.all.end(),
                                       [&](Shard shard) { return lent_[shard] < most; });
}

Slots::Queue::iterator Slots::FirstThatMayRun() {
  return std::find_if(queue_.begin(), queue_.end(),
                      [this](const Waiting& waiting) { return HasRoom(waiting.touched); });
}

Slots::Waiting Slots::Take(Queue::iterator waiting) {
  Waiting taken = std::move(*waiting);
  for (const Shard shard : taken.touched.all) --queued_[shard];
  queue_.erase(waiting);
  return taken;
}

void Slots::RefuseAll(Queue& refused, Refusal why) {
  for (const Waiting& waiting : refused) waiting.work(0, why);
}

}  // namespace fanline::api
