#include "reconciler/counter_reconciler.h"

#include <algorithm>

#include "fanline/consuming/answered.h"

namespace fanline::reconciler {

CounterReconciler::CounterReconciler(const Store& store, Metrics& metrics, const RepairGate& gate,
                                     Shard shards, const CounterLimits& limits)
    : store_(store), metrics_(metrics), gate_(gate), limits_(limits), shards_(shards) {}

Progress CounterReconciler::Step(std::span<CounterInput> inputs, Now now) {
  for (const CounterInput& input : inputs) {
    std::visit([&](const auto& what) { On(what, now); }, input);
  }
  Progress progress;
  if (!taking_) return progress;
  for (Shard shard = 0; shard < shards_.size(); ++shard) {
    ShardState& state = shards_[shard];
    if (!state.asking && state.purge_at <= now.mono) Purge(shard);  // the rarest first
    if (!state.asking && state.next_poll_at <= now.mono) Poll(shard, now);
    if (!state.asking && state.sweep_at <= now.mono) Sweep(shard, now);
    const Time at =  // a shard that was asked answers first
        state.asking ? now.mono + limits_.poll_every
                     : std::min({state.next_poll_at, state.sweep_at, state.purge_at});
    progress.StepBy(at);
  }
  return progress;
}

// A shard has one request at a time. What becomes due meanwhile is asked for after its answer.
void CounterReconciler::Poll(Shard shard, Now now) {
  shards_[shard].next_poll_at = now.mono + limits_.poll_every;
  store_.Submit(ReadMarked{Ask(shard), shard, limits_.per_poll});
}

void CounterReconciler::On(const MarkedRead& read, Now) {
  const Shard shard = Answered(read.id);
  if (!read.status.done()) return metrics_.Parked(read.status.resource);
  metrics_.CountersMarked(shard, read.counters.size());
  shards_[shard].waiting.assign(read.counters.begin(), read.counters.end());
  RepairNext(shard);
}

void CounterReconciler::On(const CounterRepaired& repaired, Now now) {
  const Shard shard = Answered(repaired.id);
  if (!repaired.status.done()) {
    metrics_.Parked(repaired.status.resource);
    shards_[shard].next_poll_at = now.mono + limits_.after_failure;
  } else if (repaired.repaired) {
    metrics_.CounterRepaired(repaired.drift);
  }
  RepairNext(shard);
}

void CounterReconciler::RepairNext(Shard shard) {
  std::deque<UserCounter>& waiting = shards_[shard].waiting;
  if (!taking_ || gate_.mode() != ReconcilerMode::kRun) waiting.clear();
  if (waiting.empty()) return;
  const UserCounter counter = waiting.front();
  waiting.pop_front();
  store_.Submit(RepairCounter{Ask(shard), shard, counter});
}

// Step polls for marked counters before it sweeps, so long pages do not keep them waiting.
void CounterReconciler::Sweep(Shard shard, Now now) {
  ShardState& state = shards_[shard];
  if (gate_.mode() == ReconcilerMode::kPause) {
    state.sweep_at = now.mono + limits_.poll_every;
    return;
  }
  state.swept_from = now.mono;
  store_.Submit(SweepCounters{
      Ask(shard), shard, std::chrono::duration_cast<std::chrono::seconds>(limits_.sweep_every)});
}

void CounterReconciler::On(const CountersSwept& swept, Now now) {
  ShardState& state = shards_[Answered(swept.id)];
  if (!swept.status.done()) {
    metrics_.Parked(swept.status.resource);
    state.sweep_at = now.mono + limits_.after_failure;
    return;
  }
  metrics_.CountersSwept(swept.users, swept.marked);
  const Duration pace = std::chrono::duration_cast<Duration>(std::chrono::seconds(swept.users)) /
                        limits_.swept_per_second;
  const Duration rest = std::max(pace, now.mono - state.swept_from);
  state.sweep_at = now.mono + (swept.over ? limits_.ask_whether_due : rest);
}

void CounterReconciler::Purge(Shard shard) {
  const auto keep = std::chrono::duration_cast<std::chrono::seconds>(limits_.keep_repairs);
  store_.Submit(PurgeRepairs{Ask(shard), shard, keep, limits_.rows_per_purge});
}

void CounterReconciler::On(const RepairsPurged& purged, Now now) {
  ShardState& state = shards_[Answered(purged.id)];
  if (!purged.status.done()) {
    metrics_.Parked(purged.status.resource);
    state.purge_at = now.mono + limits_.after_failure;
    return;
  }
  const bool more = purged.deleted >= limits_.rows_per_purge;
  state.purge_at = now.mono + (more ? limits_.poll_every : limits_.purge_every);
}

uint64_t CounterReconciler::Ask(Shard shard) {
  shards_[shard].asking = true;
  asked_.emplace(++last_id_, shard);
  return last_id_;
}

Shard CounterReconciler::Answered(uint64_t id) {
  const Shard shard = TakeAnswered(asked_, id);
  shards_[shard].asking = false;
  return shard;
}

}  // namespace fanline::reconciler
