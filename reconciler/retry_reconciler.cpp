#include "reconciler/retry_reconciler.h"

#include <algorithm>
#include <iterator>

#include "fanline/check.h"

namespace fanline::reconciler {

RetryReconciler::RetryReconciler(const Ports& ports, const Checker::Setup& setup,
                                 const RetryLimits& limits, RepairGate& gate)
    : ports_(ports),
      limits_(limits),
      checker_({ports.store, ports.hints, ports.relations, ports.metrics}, setup, gate, ids_),
      random_(setup.seed) {}

RetryProgress RetryReconciler::Step(std::span<RetryInput> inputs, Now now) {
  for (RetryInput& input : inputs) {
    std::visit([&](auto& what) { On(what, now); }, input);
  }
  while (!append_again_.empty() && append_again_.begin()->first <= now.mono) {
    const uint64_t entry = append_again_.begin()->second;
    append_again_.erase(append_again_.begin());
    Append(entry);
  }
  if (taking_) {
    CheckDue(now);
    MakeRoom(now);
  }
  const auto next_check = checker_.Send(now);
  for (const CheckResult& result : checker_.TakeResults()) OnResult(result, now);
  ports_.metrics.RetriesHeld(entries_.size());
  RetryProgress progress;
  Order(now, progress.orders);
  progress.next_timer = NextTimer(now);
  if (next_check) {
    progress.next_timer = std::min(progress.next_timer.value_or(*next_check), *next_check);
  }
  return progress;
}

void RetryReconciler::StopTaking() {
  taking_ = false;
  checker_.Drop();
}

// ---- records --------------------------------------------------------------------------------

void RetryReconciler::On(const PartitionAssigned& assigned, Now now) {
  On(PartitionRevoked{assigned.partition}, now);
  const int64_t start = assigned.first();
  if (assigned.tail_lost()) {
    ports_.metrics.TailLost(assigned.partition, assigned.start, assigned.end);
  } else if (start > assigned.start) {
    ports_.metrics.LogGap(assigned.partition, assigned.start, start);
  }
  // At once, when it moved: or whoever starts next reports it again.
  if (start != assigned.start) commit_at_ = {};
  Partition& partition = partitions_[assigned.partition];
  partition.assignment = ++assignments_;
  partition.ledger.Reset(start);
  seeks_.push_back({assigned.partition, start});
}

// What is being checked or appended goes on, for nobody: the next owner reads it again.
void RetryReconciler::On(const PartitionRevoked& revoked, Now) {
  partitions_.erase(revoked.partition);
  std::erase_if(seeks_, [&](const auto& seek) { return seek.partition == revoked.partition; });
  std::erase_if(entries_, [&](const auto& entry) {
    if (entry.second.partition != revoked.partition) return false;
    due_.erase({entry.second.retry.due, entry.first});
    return true;
  });
}

void RetryReconciler::On(Record& record, Now) {
  const auto found = partitions_.find(record.partition);
  if (!taking_ || found == partitions_.end()) return;
  const bool seeking = std::any_of(seeks_.begin(), seeks_.end(), [&](const auto& seek) {
    return seek.partition == record.partition;
  });
  if (seeking || !found->second.ledger.Received(record.offset)) return;
  const uint64_t id = ++entry_ids_;
  Entry& entry = entries_[id];
  entry.partition = record.partition;
  entry.offset = record.offset;
  entry.assignment = found->second.assignment;
  auto decoded = DecodeRelationRetry(record.value);
  if (auto* refused = std::get_if<Rejection>(&decoded)) {
    entry.reason = std::move(refused->reason);
    ports_.metrics.Undecodable(entry.reason);
    entry.undecoded = std::move(record);
    Append(id);
  } else {
    entry.retry = std::get<RelationRetry>(decoded);
    due_.emplace(entry.retry.due, id);
  }
}

// ---- checks ---------------------------------------------------------------------------------

void RetryReconciler::CheckDue(Now now) {
  while (!due_.empty() && due_.begin()->first <= now.unix_ms) {
    const uint64_t id = due_.begin()->second;
    due_.erase(due_.begin());
    const RelationRetry& retry = entries_.at(id).retry;
    checker_.Order({id, retry.edge, retry.ver});
  }
}

// Whoever is due last was checked in vain most often.
void RetryReconciler::MakeRoom(Now now) {
  if (entries_.size() < limits_.held || now.mono < make_room_at_) return;
  make_room_at_ = now.mono + limits_.make_room_every;
  for (size_t i = 0; i < limits_.held / 2 && !due_.empty(); ++i) {
    const auto last = std::prev(due_.end());
    const uint64_t id = last->second;
    due_.erase(last);
    Append(id);
  }
}

void RetryReconciler::OnResult(const CheckResult& result, Now now) {
  const auto found = entries_.find(result.order.ticket);
  if (found == entries_.end()) return;  // its partition went
  if (result.resolved) return Finish(found->first);
  if (!taking_) return;  // it is read again after the next start
  RelationRetry& retry = found->second.retry;
  ++retry.attempts;
  const Duration wait = limits_.patience.Delay(retry.attempts + 1, random_());
  retry.due = now.unix_ms + std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  Append(found->first);
}

// ---- appends --------------------------------------------------------------------------------

void RetryReconciler::Append(uint64_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const uint64_t request = ids_.Next();
  appending_.emplace(request, id);
  Entry& entry = found->second;
  if (entry.reason.empty()) {
    ports_.retries.Submit({request, {entry.retry}});
  } else {
    ports_.dead_letters.Submit({request, {entry.undecoded, "reconciler", entry.reason}});
  }
}

void RetryReconciler::On(const RetriesAppended& appended, Now now) {
  Appended(appended.id, appended.status, now);
}

void RetryReconciler::On(const DeadLetterAppended& appended, Now now) {
  Appended(appended.id, appended.status, now);
}

void RetryReconciler::Appended(uint64_t request, const Status& status, Now now) {
  const auto found = appending_.find(request);
  FANLINE_CHECK(found != appending_.end(), "a reply to a request never sent");
  const uint64_t id = found->second;
  appending_.erase(found);
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return;
  if (status.done()) return Finish(id);
  ports_.metrics.Parked(status.later() ? status.resource : "kafka");
  const Duration wait = limits_.append_again.Delay(++entry->second.appends, random_());
  if (taking_) append_again_.emplace(now.mono + wait, id);
}

// ---- offsets --------------------------------------------------------------------------------

void RetryReconciler::Finish(uint64_t id) {
  const auto found = entries_.find(id);
  const Entry& entry = found->second;
  const auto partition = partitions_.find(entry.partition);
  if (partition != partitions_.end() && partition->second.assignment == entry.assignment) {
    partition->second.ledger.Finished(entry.offset);
  }
  entries_.erase(found);
}

void RetryReconciler::Order(Now now, ConsumerOrders& orders) {
  orders.seek = std::exchange(seeks_, {});
  const bool commit = !taking_ || now.mono >= commit_at_;
  if (commit) commit_at_ = now.mono + limits_.commit_every;
  const bool full = entries_.size() >= limits_.held;
  const bool roomy = entries_.size() <= limits_.held / 2;
  for (auto& [number, partition] : partitions_) {
    const int64_t committable = partition.ledger.committable();
    if (commit && committable != partition.ordered) {
      partition.ordered = committable;
      orders.commit.push_back({number, committable});
    }
    if (full && !partition.paused) {
      partition.paused = true;
      orders.pause.push_back(number);
    } else if (roomy && partition.paused) {
      partition.paused = false;
      orders.resume.push_back(number);
    }
  }
}

std::optional<Time> RetryReconciler::NextTimer(Now now) const {
  std::optional<Time> next;
  const auto earliest = [&next](Time time) { next = std::min(next.value_or(time), time); };
  if (taking_ && !due_.empty()) {
    earliest(now.mono +
             std::chrono::milliseconds(std::max<UnixMs>(0, due_.begin()->first - now.unix_ms)));
  }
  if (!append_again_.empty()) earliest(append_again_.begin()->first);
  if (taking_ && entries_.size() >= limits_.held) earliest(std::max(make_room_at_, now.mono));
  for (const auto& [number, partition] : partitions_) {
    if (partition.ledger.committable() != partition.ordered) earliest(commit_at_);
  }
  return next;
}

}  // namespace fanline::reconciler
