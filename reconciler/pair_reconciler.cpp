#include "reconciler/pair_reconciler.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "fanline/consuming/answered.h"

namespace fanline::reconciler {
PairReconciler::PairReconciler(const Ports& ports, const Setup& setup, const Limits& limits,
                               RepairGate& gate)
    : ports_(ports),
      setup_(setup),
      gate_(gate),
      poll_every_(std::min<Duration>(std::chrono::seconds(1), limits.grace / 2)),
      checker_(ports.checker, setup.checker, gate),
      common_{limits, ports.metrics, setup.checker.shards, setup.checker.guards},
      log_({.open = std::numeric_limits<size_t>::max(), .commit_every = limits.commit_every},
           ports.metrics),
      random_(setup.checker.seed) {}

Progress PairReconciler::Step(std::span<PairReconcilerInput> inputs, Now now) {
  for (PairReconcilerInput& input : inputs) {
    std::visit([&](auto& what) { On(what, now); }, input);
  }
  if (now.mono >= next_poll_at_) Poll(now);
  TakeResults(now);
  PairProgress pairs{log_.Order({}, false, now), {}, {}};
  for (auto& [partition, tracker] : trackers_) tracker.Advance(now.mono, mirror_lag_, pairs);
  Send(pairs, now);
  Progress progress = std::move(pairs);
  progress.StepBy(next_poll_at_);
  progress.StepBy(checker_.Send(now));
  if (TakeResults(now)) progress.StepBy(now.mono);  // checks that ended at once
  return progress;
}

void PairReconciler::StopTaking() {
  taking_ = false;
  checker_.Drop();
}

// ---- the log --------------------------------------------------------------------------------

void PairReconciler::On(const PartitionAssigned& assigned, Now) {
  const int32_t partition = assigned.partition;
  mirror_.Assigned(partition, assigned.first());
  log_.Assigned(assigned);
  trackers_.erase(partition);
  trackers_.try_emplace(partition, common_, partition, log_.ledger(partition));
}

void PairReconciler::On(const PartitionRevoked& revoked, Now) {
  mirror_.Revoked(revoked.partition);
  log_.Revoked(revoked);
  trackers_.erase(revoked.partition);
}

PairTracker* PairReconciler::TrackerOf(int32_t partition) {
  const auto found = trackers_.find(partition);
  return found == trackers_.end() ? nullptr : &found->second;
}

void PairReconciler::On(const LogEndSeen& seen, Now) {
  if (PairTracker* tracker = TrackerOf(seen.partition)) tracker->On(seen);
}

void PairReconciler::On(const Record& record, Now now) {
  if (setup_.mirror_group) mirror_.Consumed(record.partition, record.offset, now.mono);
  PairTracker* tracker = TrackerOf(record.partition);
  if (tracker == nullptr) return;
  const PairRecord taken{record.offset, record.timestamp, DecodeRelationMessage(record.value)};
  const auto* refused = std::get_if<Rejection>(&taken.message);
  if (refused != nullptr) ports_.metrics.Undecodable(refused->reason);
  tracker->On(taken, now.mono);
}

// ---- orders of the tracker ------------------------------------------------------------------

void PairReconciler::Send(PairProgress& progress, Now now) {
  if (!taking_) return;
  for (const CheckOrder& check : progress.checks) checker_.Order(check);
  for (const Retry& retry : progress.retries) {
    const uint64_t id = ++ids_;
    const int64_t wait = Milliseconds(setup_.patience.Delay(1, random_()));
    retries_.emplace(id, retry);
    ports_.retries.Submit({id, {{retry.edge, retry.claim, now.unix_ms + wait, 0}}});
  }
}

// Returns whether there were any.
bool PairReconciler::TakeResults(Now now) {
  const std::vector<CheckResult> results = checker_.TakeResults();
  for (const CheckResult& result : results) {  // no two pairs have one ticket
    for (auto& [partition, tracker] : trackers_) {
      tracker.Checked(result.order, result.resolved, now.mono);
    }
  }
  return !results.empty();
}

void PairReconciler::On(const RetriesAppended& appended, Now now) {
  const Retry retry = TakeAnswered(retries_, appended.id);
  if (appended.status.later()) ports_.metrics.Parked(appended.status.resource);
  PairTracker* tracker = TrackerOf(retry.partition);
  if (tracker != nullptr) tracker->RetryAppended(retry, appended.status.done(), now.mono);
}

uint64_t PairReconciler::pending() const {
  uint64_t sum = 0;
  for (const auto& [partition, tracker] : trackers_) sum += tracker.pending();
  return sum;
}

// ---- once a second --------------------------------------------------------------------------

void PairReconciler::Poll(Now now) {
  next_poll_at_ = now.mono + poll_every_;
  if (!asking_mode_) {
    asking_mode_ = true;
    ports_.mode.Submit(ReadReconcilerMode{++ids_});
  }
  const std::vector<int32_t> owned = mirror_.partitions();
  if (owned.empty()) gate_.SetMirrorBehind(false);  // nobody here knows
  if (setup_.mirror_group && !asking_mirror_ && !owned.empty()) {
    asking_mirror_ = true;
    ports_.positions.Submit(ReadGroupOffsets{++ids_, owned});
  }
  UnixMs oldest = now.unix_ms;
  for (const auto& [partition, tracker] : trackers_) {
    oldest = std::min(oldest, tracker.OldestPending().value_or(oldest));
  }
  ports_.metrics.Pending(pending(), std::chrono::milliseconds(now.unix_ms - oldest),
                         log_.commit_lag());
  for (Shard shard = 0; shard < gate_.shards(); ++shard) {
    ports_.metrics.BreakerOpen(shard, gate_.BreakerOpen(shard));
  }
}

// The mode stays as it was while shard 0 is away.
void PairReconciler::On(const ReconcilerModeRead& read, Now) {
  asking_mode_ = false;
  if (read.status.done()) gate_.SetMode(read.mode, read.closings);
}

// If the read failed, the last known offsets stand and the next poll asks again.
void PairReconciler::On(const GroupOffsetsRead& read, Now now) {
  asking_mirror_ = false;
  if (!read.status.done()) return;
  for (const auto& group : read.committed) mirror_.Committed(group.partition, group.offset);
  const Duration lag = mirror_.Lag(now.mono);
  ports_.metrics.MirrorLagged(lag);
  // Pairs that a stopped mirror has not applied become due a grace after they came. The lag must
  // exceed the grace by then, not only at the next poll, or some of them would be checked.
  mirror_lag_ = lag > Duration(0) ? lag + poll_every_ + kPollSlack : lag;
  gate_.SetMirrorBehind(mirror_lag_ > common_.limits.grace);
}

}  // namespace fanline::reconciler
