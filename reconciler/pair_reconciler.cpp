#include "reconciler/pair_reconciler.h"

#include <algorithm>
#include <chrono>

#include "fanline/consuming/answered.h"

namespace fanline::reconciler {
PairReconciler::PairReconciler(const Ports& ports, const Setup& setup, const Limits& limits,
                               RepairGate& gate)
    : ports_(ports),
      setup_(setup),
      gate_(gate),
      poll_every_(std::min<Duration>(std::chrono::seconds(1), limits.grace / 2)),
      checker_(ports.checker, setup.checker, gate),
      tracker_(limits, ports.metrics, setup.checker.shards, setup.checker.guards),
      random_(setup.checker.seed) {}

Progress PairReconciler::Step(std::span<PairReconcilerInput> inputs, Now now) {
  for (PairReconcilerInput& input : inputs) {
    std::visit([&](auto& what) { On(what, now); }, input);
  }
  if (now.mono >= next_poll_at_) Poll(now);
  TakeResults();
  PairProgress pairs = tracker_.Step(std::exchange(inputs_, {}), now);
  Send(pairs, now);
  Progress progress = std::move(pairs);
  progress.StepBy(next_poll_at_);
  progress.StepBy(checker_.Send(now));
  TakeResults();
  if (!inputs_.empty()) progress.StepBy(now.mono);  // results of checks that ended at once
  return progress;
}

void PairReconciler::StopTaking() {
  taking_ = false;
  checker_.Drop();
}

// ---- the log --------------------------------------------------------------------------------

void PairReconciler::On(const PartitionAssigned& assigned, Now) {
  mirror_.Assigned(assigned.partition, assigned.first());
  inputs_.push_back(assigned);
}

void PairReconciler::On(const PartitionRevoked& revoked, Now) {
  mirror_.Revoked(revoked.partition);
  inputs_.push_back(revoked);
}

void PairReconciler::On(const Record& record, Now now) {
  if (setup_.mirror_group) mirror_.Consumed(record.partition, record.offset, now.mono);
  inputs_.push_back(Decode(record));
}

PairRecord PairReconciler::Decode(const Record& record) {
  PairRecord out;
  out.partition = record.partition;
  out.offset = record.offset;
  out.appended = record.timestamp;
  const auto decoded = DecodeRelationMessage(record.value);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) {
    ports_.metrics.Undecodable(refused->reason);
    return out;
  }
  const auto& message = std::get<RelationMessage>(decoded);
  out.edge = KeyOf(message);
  if (const auto* written = std::get_if<EdgeWritten>(&message)) {
    out.kind = PairRecord::Kind::kWritten;
    out.ver = written->edge.ver;
    out.live = written->edge.live;
    out.pos = written->edge.pos;
    out.log_id = written->log_id;
  } else {
    out.kind = PairRecord::Kind::kMirrored;
    out.ver = std::get<EdgeMirrored>(message).ver;
  }
  return out;
}

// ---- orders of the tracker ------------------------------------------------------------------

void PairReconciler::Send(PairProgress& progress, Now now) {
  if (!taking_) return;
  for (const CheckOrder& check : progress.checks) checker_.Order(check);
  for (const Retry& retry : progress.retries) {
    const uint64_t id = ++ids_;
    const auto wait =
        std::chrono::duration_cast<std::chrono::milliseconds>(setup_.patience.Delay(1, random_()));
    retries_.emplace(id, retry);
    ports_.retries.Submit({id, {{retry.edge, retry.claim, now.unix_ms + wait.count(), 0}}});
  }
}

void PairReconciler::TakeResults() {
  for (const CheckResult& result : checker_.TakeResults()) {
    inputs_.push_back(Checked{result.order.ticket, result.order.edge, result.resolved});
  }
}

void PairReconciler::On(const RetriesAppended& appended, Now) {
  const Retry retry = TakeAnswered(retries_, appended.id);
  if (appended.status.later()) ports_.metrics.Parked(appended.status.resource);
  inputs_.push_back(RetryAppended{retry.partition, retry.id, retry.edge, appended.status.done()});
}

// ---- once a second --------------------------------------------------------------------------

void PairReconciler::Poll(Now now) {
  next_poll_at_ = now.mono + poll_every_;
  if (!asking_mode_) {
    asking_mode_ = true;
    ports_.mode.Submit(ReadReconcilerMode{++ids_});
  }
  const std::vector<int32_t> owned = mirror_.partitions();
  if (setup_.mirror_group && !asking_mirror_ && !owned.empty()) {
    asking_mirror_ = true;
    ports_.positions.Submit(ReadGroupOffsets{++ids_, owned});
  }
  const UnixMs oldest = tracker_.OldestPending().value_or(now.unix_ms);
  ports_.metrics.Pending(tracker_.pending(),
                         std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - oldest)),
                         tracker_.commit_lag());
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
  inputs_.push_back(MirrorLag{lag > Duration(0) ? lag + poll_every_ + kPollSlack : lag});
}

}  // namespace fanline::reconciler
