#include "reconciler/later_reconciler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "fanline/consuming/answered.h"

namespace fanline::reconciler {
LaterReconciler::LaterReconciler(const Ports& ports, const Setup& setup,
                                 const EdgeComparer::Limits& comparing, const LaterLimits& limits,
                                 RepairGate& gate)
    : ports_(ports),
      setup_(setup),
      limits_(limits),
      gate_(gate),
      comparer_(Net::kLog, ports.comparer, setup.checker, comparing, gate),
      partitions_({.open = std::numeric_limits<size_t>::max(),
                   .span = limits.held,
                   .commit_every = limits.commit_every},
                  ports.metrics) {}

Progress LaterReconciler::Step(std::span<LaterInput> inputs, Now now) {
  for (LaterInput& input : inputs) {
    std::visit([&](auto& what) { On(what, now); }, input);
  }
  if (now.mono >= look_at_) Look(now);
  Compare(now);
  const auto next = comparer_.Send(now);
  const bool more = TakeFinished();
  Progress progress = partitions_.Order({}, !taking_, now);
  progress.StepBy(next);
  progress.StepBy(more && taking_ ? now.mono : look_at_);
  return progress;
}

void LaterReconciler::StopTaking() {
  taking_ = false;
  comparer_.StopTaking();
}

// ---- the log --------------------------------------------------------------------------------

void LaterReconciler::On(const PartitionAssigned& assigned, Now) {
  partitions_.Assigned(assigned);
  held_[assigned.partition].clear();
  mirrored_up_to_.erase(assigned.partition);
}

// What is being compared goes on without effect on offsets.
void LaterReconciler::On(const PartitionRevoked& revoked, Now) {
  partitions_.Revoked(revoked);
  held_.erase(revoked.partition);
  mirrored_up_to_.erase(revoked.partition);
}

void LaterReconciler::On(const Record& record, Now) {
  const auto place = partitions_.Received(record);
  if (!place) return;
  const auto decoded = DecodeRelationMessage(record.value);
  const auto* message = std::get_if<RelationMessage>(&decoded);
  if (message == nullptr) return partitions_.Finished(*place);
  held_[record.partition].push_back({*place, record.timestamp, KeyOf(*message), ClaimOf(*message)});
}

void LaterReconciler::On(const GroupOffsetsRead& read, Now) {
  asking_ = false;
  if (!read.status.done()) return;
  for (const auto& group : read.committed) mirrored_up_to_[group.partition] = group.offset;
}

// ---- once a second --------------------------------------------------------------------------

void LaterReconciler::Look(Now now) {
  look_at_ = now.mono + limits_.look_every;
  UnixMs oldest = now.unix_ms;
  std::vector<int32_t> owned;
  for (const auto& [partition, held] : held_) {
    owned.push_back(partition);
    if (!held.empty()) oldest = std::min(oldest, held.front().appended);
  }
  ports_.metrics.Unscanned(Scan::kRelationLog, std::chrono::milliseconds(now.unix_ms - oldest));
  if (!setup_.mirror_group || asking_ || owned.empty()) return;
  asking_ = true;
  ports_.positions.Submit(ReadGroupOffsets{++ids_, owned});
}

// ---- batches --------------------------------------------------------------------------------

bool LaterReconciler::Ripe(const Held& held, Now now) const {
  if (held.appended + Milliseconds(limits_.after) > now.unix_ms) return false;
  if (!setup_.mirror_group) return true;
  const auto up_to = mirrored_up_to_.find(held.place.partition);
  return up_to != mirrored_up_to_.end() && held.place.offset < up_to->second;
}

void LaterReconciler::Compare(Now now) {
  if (!taking_ || gate_.mode() == ReconcilerMode::kPause || comparer_.open() >= limits_.open) {
    return;
  }
  struct Folded {
    EdgeClaim claim;
    std::vector<Partitions::Place> places;
  };
  std::unordered_map<EdgeKey, Folded> edges;
  size_t records = 0;
  for (auto& [partition, held] : held_) {
    while (records < limits_.batch && !held.empty() && Ripe(held.front(), now)) {
      const Held& first = held.front();
      Folded& folded = edges[first.edge];
      if (folded.places.empty() || StandsFor(first.claim, folded.claim)) folded.claim = first.claim;
      folded.places.push_back(first.place);
      held.pop_front();
      ++records;
    }
  }
  for (auto& [edge, folded] : edges) {
    comparing_.emplace(++ids_, std::move(folded.places));
    comparer_.Compare({ids_, edge, folded.claim});
  }
  if (!edges.empty()) ports_.metrics.Scanned(Scan::kRelationLog, edges.size());
  if (records >= limits_.batch) look_at_ = now.mono;  // more may be ripe
}

// Returns whether there were any.
bool LaterReconciler::TakeFinished() {
  const std::vector<uint64_t> tickets = comparer_.TakeFinished();
  for (const uint64_t ticket : tickets) {
    for (const auto& place : TakeAnswered(comparing_, ticket)) partitions_.Finished(place);
  }
  return !tickets.empty();
}

}  // namespace fanline::reconciler
