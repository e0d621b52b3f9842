#include "reconciler/retry_reconciler.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fanline::reconciler {
RetryReconciler::RetryReconciler(const Ports& ports, const Checker::Setup& setup,
                                 const RetryLimits& limits, RepairGate& gate)
    : ports_(ports),
      limits_(limits),
      checker_(ports.checker, setup, gate),
      random_(setup.seed),
      partitions_({.open = limits.held, .commit_every = limits.commit_every}, ports.metrics),
      append_again_(limits.append_again) {}

Progress RetryReconciler::Step(std::span<RetryInput> inputs, Now now) {
  for (RetryInput& input : inputs) {
    std::visit([&](auto& what) { On(what, now); }, input);
  }
  if (partitions_.Moved()) ForgetTaken();
  while (const auto entry = append_again_.Take(now.mono)) Append(*entry);
  if (taking_) {
    CheckDue(now);
    MakeRoom(now);
  }
  const auto next_check = checker_.Send(now);
  for (const CheckResult& result : checker_.TakeResults()) OnResult(result, now);
  ports_.metrics.RetriesHeld(entries_.size());
  Progress progress = partitions_.Order({entries_.size()}, !taking_, now);
  progress.StepBy(next_check);
  progress.StepBy(append_again_.timer());
  if (taking_ && !due_.empty()) {
    const UnixMs wait = std::max<UnixMs>(0, due_.begin()->first - now.unix_ms);
    progress.StepBy(now.mono + std::chrono::milliseconds(wait));
  }
  if (taking_ && entries_.size() >= limits_.held) {
    progress.StepBy(std::max(make_room_at_, now.mono));
  }
  return progress;
}

void RetryReconciler::StopTaking() {
  taking_ = false;
  checker_.Drop();
}

// ---- records --------------------------------------------------------------------------------

// Checks and appends under way go on without effect here: the next owner reads the entries again.
void RetryReconciler::ForgetTaken() {
  std::erase_if(entries_, [this](const auto& entry) {
    if (partitions_.Holds(entry.second.place)) return false;
    due_.erase({entry.second.retry.due, entry.first});
    LetGo(entry.first);
    return true;
  });
}

void RetryReconciler::On(Record& record, Now) {
  if (!taking_) return;
  const auto place = partitions_.Received(record);
  if (!place) return;
  const uint64_t id = ++ids_;
  Entry& entry = entries_[id];
  entry.place = *place;
  entry.record = std::move(record);
  auto decoded = DecodeRelationRetry(entry.record.value);
  if (auto* refused = std::get_if<Rejection>(&decoded)) {
    entry.reason = std::move(refused->reason);
    ports_.metrics.Undecodable(entry.reason);
    Append(id);
  } else {
    entry.retry = std::get<RelationRetry>(decoded);
    Hold(id);
  }
}

void RetryReconciler::Hold(uint64_t id) {
  RelationRetry& retry = entries_.at(id).retry;
  const auto [known, first] = of_edge_.try_emplace(retry.edge, id);
  if (!first) {
    RelationRetry& other = entries_.at(known->second).retry;
    retry.net = other.net =
        std::min(retry.net, other.net);  // what its pair holds did not escape it
    if (!StandsFor(retry.claim, other.claim)) return Finish(id);
    const uint64_t earlier = std::exchange(known->second, id);
    if (due_.erase({other.due, earlier}) > 0) Finish(earlier);  // else when its check ends
  }
  due_.emplace(retry.due, id);
}

// From now on no other entry of the edge is compared with this one.
void RetryReconciler::LetGo(uint64_t id) {
  const auto found = of_edge_.find(entries_.at(id).retry.edge);
  if (found != of_edge_.end() && found->second == id) of_edge_.erase(found);
}

// ---- checks ---------------------------------------------------------------------------------

void RetryReconciler::CheckDue(Now now) {
  while (!due_.empty() && due_.begin()->first <= now.unix_ms) {
    const uint64_t id = due_.begin()->second;
    due_.erase(due_.begin());
    const RelationRetry& retry = entries_.at(id).retry;
    checker_.Order({id, retry.edge, retry.claim, retry.net, true});
  }
}

// The entries that are due last were checked in vain most often.
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
  if (found == entries_.end()) return;  // its partition was revoked
  if (result.resolved) return Finish(found->first);
  if (!taking_) return;  // the entry is read again after the next start
  RelationRetry& retry = found->second.retry;
  const auto latest = of_edge_.find(retry.edge);
  if (latest == of_edge_.end() || latest->second != found->first) return Finish(found->first);
  ++retry.attempts;
  retry.hopeless = result.hopeless.empty() ? 0 : retry.hopeless + 1;
  if (retry.hopeless >= limits_.hopeless_attempts) {
    found->second.reason = result.hopeless;
    return Append(found->first);
  }
  retry.due = now.unix_ms + Milliseconds(limits_.patience.Delay(retry.attempts + 1, random_()));
  Append(found->first);
}

// ---- appends --------------------------------------------------------------------------------

void RetryReconciler::Append(uint64_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  LetGo(id);  // the edge's next entry may be this one's copy
  ++appending_;
  Entry& entry = found->second;
  if (entry.reason.empty()) {
    ports_.retries.Submit({id, {entry.retry}});
  } else {
    ports_.dead_letters.Submit({id, {entry.record, "reconciler", entry.reason}});
  }
}

void RetryReconciler::Appended(uint64_t id, const Status& status, Now now) {
  --appending_;
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return;
  if (status.done()) return Finish(id);
  ports_.metrics.Parked(status.later() ? status.resource : "kafka");
  if (taking_) append_again_.Add(id, ++entry->second.appends, now.mono, random_());
}

void RetryReconciler::Finish(uint64_t id) {
  LetGo(id);
  const auto found = entries_.find(id);
  partitions_.Finished(found->second.place);
  entries_.erase(found);
}

}  // namespace fanline::reconciler
