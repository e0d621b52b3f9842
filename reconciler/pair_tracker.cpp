#include "reconciler/pair_tracker.h"

#include <algorithm>

namespace fanline::reconciler {

PairProgress PairTracker::Step(std::span<const PairInput> inputs, Now now) {
  for (const PairInput& input : inputs) {
    std::visit([&](const auto& what) { On(what, now); }, input);
  }
  PairProgress progress;
  const bool lagging = mirror_lag_ > limits_.grace;
  for (auto& [number, owned] : partitions_) owned.pairs.Advance(now.mono, lagging, progress);
  Progress of_log = log_.Order({}, false, now);
  progress.orders = std::move(of_log.orders);
  progress.StepBy(of_log.next_timer);
  for (auto& [number, owned] : partitions_) {
    const bool overfull = owned.pairs.overfull();
    if (overfull == owned.paused) continue;
    owned.paused = overfull;
    (overfull ? progress.orders.pause : progress.orders.resume).push_back(number);
  }
  return progress;
}

void PairTracker::On(const PartitionAssigned& assigned, Now) {
  const int32_t number = assigned.partition;
  log_.Assigned(assigned);
  partitions_.erase(number);
  partitions_.emplace(number, Owned{PartitionPairTracker(limits_, guards_, shards_, metrics_,
                                                         stamps_, number, log_.ledger(number))});
}

void PairTracker::On(const PartitionRevoked& revoked, Now) {
  log_.Revoked(revoked);
  partitions_.erase(revoked.partition);
}

template <class Input>
void PairTracker::On(const Input& input, Now now) {
  const auto found = partitions_.find(input.partition);
  if (found == partitions_.end()) return;
  if constexpr (std::is_same_v<Input, LogEndSeen>) {
    found->second.pairs.On(input);
  } else {
    found->second.pairs.On(input, now.mono);
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
