#include "reconciler/counter_net.h"

#include "fanline/check.h"

namespace fanline::reconciler {

CounterNet::CounterNet(CounterStore& store, Metrics& metrics, const Guards& guards, Shard shards,
                       const CounterLimits& limits)
    : store_(store), metrics_(metrics), guards_(guards), limits_(limits), open_(shards) {}

std::optional<Time> CounterNet::Step(std::span<CounterInput> inputs, Now now) {
  for (const CounterInput& input : inputs) {
    std::visit([this](const auto& what) { On(what); }, input);
  }
  if (!taking_) return std::nullopt;
  if (now.mono >= look_at_) {
    look_at_ = now.mono + limits_.look_every;
    Look();
  }
  return look_at_;
}

// What a shard was asked for and has not answered is not asked for again.
void CounterNet::Look() {
  if (guards_.mode() == ReconcilerMode::kPause) return;
  for (Shard shard = 0; shard < open_.size(); ++shard) {
    if (open_[shard] == 0) store_.Submit(ReadMarked{Ask(shard), shard, limits_.per_look});
  }
}

void CounterNet::On(const MarkedRead& read) {
  const Shard shard = Answered(read.id);
  if (!read.status.done()) return metrics_.Parked(read.status.resource);
  metrics_.CountersMarked(shard, read.counters.size());
  if (!taking_ || guards_.mode() != ReconcilerMode::kRun) return;
  for (const UserCounter& counter : read.counters) {
    store_.Submit(RepairCounter{Ask(shard), shard, counter});
  }
}

void CounterNet::On(const CounterRepaired& repaired) {
  Answered(repaired.id);
  if (!repaired.status.done()) return metrics_.Parked(repaired.status.resource);
  if (repaired.repaired) metrics_.CounterRepaired(repaired.drift);
}

uint64_t CounterNet::Ask(Shard shard) {
  ++open_[shard];
  asked_.emplace(++last_id_, shard);
  return last_id_;
}

Shard CounterNet::Answered(uint64_t id) {
  const auto found = asked_.find(id);
  FANLINE_CHECK(found != asked_.end(), "a reply to a request never sent");
  const Shard shard = found->second;
  asked_.erase(found);
  --open_[shard];
  return shard;
}

}  // namespace fanline::reconciler
