#include "reconciler/pair_tracker.h"

#include <algorithm>

namespace fanline::reconciler {

PairProgress PairTracker::Step(std::span<const PairInput> inputs, Now now) {
  for (const PairInput& input : inputs) {
    std::visit([&](const auto& what) { On(what, now); }, input);
  }
  PairProgress progress;
  // One alert about the mirror instead of a check of everything it has not come to.
  const bool lagging = mirror_lag_ > limits_.grace;
  for (auto& [number, owned] : partitions_) owned.pairs.Advance(now.mono, lagging, progress);
  Order(now, progress);
  return progress;
}

void PairTracker::On(const PartitionAssigned& assigned, Now) {
  const int64_t start = assigned.first();
  if (assigned.tail_lost()) {
    metrics_.TailLost(assigned.partition, assigned.start, assigned.end);
  } else if (start > assigned.start) {
    metrics_.LogGap(assigned.partition, assigned.start, start);
  }
  // At once, when it moved: or whoever starts next reports it again.
  if (start != assigned.start) commit_at_ = {};
  partitions_.erase(assigned.partition);
  partitions_.emplace(
      assigned.partition,
      Owned{PartitionPairTracker(limits_, shards_, metrics_, stamps_, assigned.partition, start)});
  seeks_.push_back({assigned.partition, start});
}

template <class Input>
void PairTracker::On(const Input& input, Now now) {
  const auto found = partitions_.find(input.partition);
  if (found == partitions_.end()) return;
  if constexpr (std::is_same_v<Input, HighWatermark>) {
    found->second.pairs.On(input);
  } else {
    found->second.pairs.On(input, now.mono);
  }
}

void PairTracker::Order(Now now, PairProgress& progress) {
  progress.orders.seek = std::move(seeks_);
  seeks_.clear();
  const bool commit = now.mono >= commit_at_;
  if (commit) commit_at_ = now.mono + limits_.commit_every;
  for (auto& [number, owned] : partitions_) {
    const int64_t committable = owned.pairs.committable();
    if (commit && committable != owned.ordered) {
      owned.ordered = committable;
      progress.orders.commit.push_back({number, committable});
    } else if (committable != owned.ordered) {
      progress.next_timer = std::min(progress.next_timer.value_or(commit_at_), commit_at_);
    }
    const bool overfull = owned.pairs.overfull();
    if (overfull == owned.paused) continue;
    owned.paused = overfull;
    (overfull ? progress.orders.pause : progress.orders.resume).push_back(number);
  }
}

uint64_t PairTracker::pending() const {
  uint64_t sum = 0;
  for (const auto& [number, owned] : partitions_) sum += owned.pairs.pending();
  return sum;
}

size_t PairTracker::timers() const {
  size_t sum = 0;
  for (const auto& [number, owned] : partitions_) sum += owned.pairs.timers();
  return sum;
}

std::optional<UnixMs> PairTracker::OldestPending() const {
  std::optional<UnixMs> oldest;
  for (const auto& [number, owned] : partitions_) {
    const auto of_partition = owned.pairs.OldestPending();
    if (of_partition) oldest = std::min(oldest.value_or(*of_partition), *of_partition);
  }
  return oldest;
}

}  // namespace fanline::reconciler
