#include "pusher/units/admission.h"

#include <algorithm>

namespace fanline::pusher {

void Admission::SetWays(size_t shards, const std::set<uint32_t>& nodes) {
  ways_ = shards * nodes.size();
  // A failover brings new nodes.
  std::erase_if(nodes_, [&](const auto& entry) {
    return !nodes.contains(entry.first) && entry.second.batches == 0;
  });
}

// ---- credits --------------------------------------------------------------------------------

// One way's share of a bound of which `whole_ways` ways would have `each`.
size_t Admission::ShareOf(size_t each) const {
  if (ways_ <= limits_.whole_ways) return each;
  return std::max<size_t>(1, each * limits_.whole_ways / ways_);
}

bool Admission::has_place(const Way& way) const {
  const auto taken = taken_.find(way);
  return taken == taken_.end() || taken->second.units < ShareOf(limits_.units_in_flight);
}

bool Admission::has_room(const Way& way) const {
  const auto node = nodes_.find(way.node);
  const bool short_queue =
      node == nodes_.end() || node->second.waiting_readers < limits_.waiting_readers;
  return short_queue && has_place(way);
}

bool Admission::admits(const Way& way) const {
  const auto taken = taken_.find(way);
  const bool held_back = taken != taken_.end() && taken->second.full_since;
  return !held_back && has_room(way);
}

Admission::Credit Admission::Admit(const Way& way, Time now) {
  AtWay& taken = taken_[way];
  if (++taken.units >= ShareOf(limits_.units_in_flight)) taken.full_since = now;
  Credit credit;
  credit.by_ = this;
  credit.at_ = &taken;
  return credit;
}

uint32_t Admission::PageFor(const Credit& credit) const {
  const uint32_t large = limits_.followers_per_page;
  return credit.wide_ ? large : std::min(limits_.followers_on_first_page, large);
}

bool Admission::Widen(Credit& credit) {
  AtWay& taken = *credit.at_;
  const bool is_free = taken.wide + taken.waiting() < ShareOf(limits_.large_pages_in_flight);
  if (!credit.wide_ && is_free) {
    credit.wide_ = true;
    ++taken.wide;
    --taken.units;
  }
  return credit.wide_;
}

void Admission::AwaitTurn(uint64_t unit, Credit credit) {
  AtWay& taken = *credit.at_;
  if (credit.wide_) {
    taken.begun.insert(unit);
  } else {
    taken.fresh.push_back(unit);
  }
}

std::optional<Admission::Tried> Admission::NextTurn() {
  for (auto& [way, taken] : taken_) {
    const bool is_free = taken.wide < ShareOf(limits_.large_pages_in_flight);
    if (taken.waiting() == 0 || !is_free) continue;
    const bool fresh = !taken.fresh.empty() && (taken.fresh_next || taken.begun.empty());
    taken.fresh_next = !fresh;
    Tried next;
    if (fresh) {
      next.unit = taken.fresh.front();
      taken.fresh.pop_front();
    } else {
      next.unit = taken.begun.extract(taken.begun.begin()).value();
    }
    ++taken.wide;
    next.credit.by_ = this;
    next.credit.at_ = &taken;
    next.credit.wide_ = true;
    return next;
  }
  return std::nullopt;
}

size_t Admission::awaiting_turns() const {
  size_t units = 0;
  for (const auto& [way, taken] : taken_) units += taken.waiting();
  return units;
}

void Admission::TakeBack(Credit& credit) {
  EndTry(credit);
  --(credit.wide_ ? credit.at_->wide : credit.at_->units);
}

void Admission::Refill(Time now) {
  std::erase_if(taken_, [](const auto& entry) {
    const AtWay& taken = entry.second;
    return taken.units == 0 && taken.wide == 0 && taken.waiting() == 0;
  });
  const size_t most = ShareOf(limits_.units_in_flight);
  for (auto& [way, taken] : taken_) {
    if (!taken.full_since) continue;
    if (taken.units <= most / 4 * 3 || now >= *taken.full_since + limits_.refill_within) {
      taken.full_since.reset();
    }
  }
}

std::optional<Time> Admission::refill_timer() const {
  std::optional<Time> next;
  for (const auto& [way, taken] : taken_) {
    if (!taken.full_since || !has_place(way)) continue;
    next = Earlier(next, *taken.full_since + limits_.refill_within);
  }
  return next;
}

bool Admission::may_send(uint32_t node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() || found->second.batches < limits_.batches_in_flight;
}

// ---- parked units ---------------------------------------------------------------------------

bool Admission::may_try(const QueueName& name, const Queue& queue) const {
  return !queue.waiting.empty() && queue.trying < queue.at_once && has_room(name.way);
}

// Units that were under way together when the resource went away count as one failure.
void Admission::Failed(Queue& queue, Time now, uint64_t random) const {
  if (queue.failures > 0 && now < queue.not_before) return;
  queue.at_once = 1;
  queue.not_before = now + limits_.probe.Delay(++queue.failures, random);
}

void Admission::Park(uint64_t unit, Credit credit, const QueueName& name, Time now,
                     uint64_t random) {
  const auto at = queues_.try_emplace(name).first;
  Queue& queue = at->second;
  // A unit that did not wait here shows that the resource went away, not that it is still away.
  if (credit.tried_ == at || queue.failures == 0) Failed(queue, now, random);
  queue.waiting.push_back(unit);
  ++parked_;
}

std::optional<Admission::Tried> Admission::TryNext(Time now) {
  for (auto at = queues_.begin(); at != queues_.end(); ++at) {
    auto& [name, queue] = *at;
    if (queue.failures > 0 && now < queue.not_before) continue;
    if (!may_try(name, queue)) continue;
    Tried tried{queue.waiting.front(), Admit(name.way, now)};
    tried.credit.tried_ = at;
    queue.waiting.pop_front();
    ++queue.trying;
    --parked_;
    return tried;
  }
  return std::nullopt;
}

void Admission::GotThrough(Credit& credit) {
  if (!credit.tried_) return;
  Queue& queue = (*credit.tried_)->second;
  queue.failures = 0;
  queue.at_once = std::min<size_t>(queue.at_once + 1, std::max(1u, limits_.units_in_flight / 4));
  EndTry(credit);
}

void Admission::GotThroughTo(Credit& credit, const QueueName& queue) {
  if (credit.tried_ && (*credit.tried_)->first != queue) GotThrough(credit);
}

void Admission::EndTry(Credit& credit) {
  if (!credit.tried_) return;
  const auto queue = *std::exchange(credit.tried_, std::nullopt);
  --queue->second.trying;
  DropIfUnused(queue);
}

void Admission::Forget(const std::function<bool(uint64_t unit)>& gone) {
  for (auto at = queues_.begin(); at != queues_.end();) {
    const auto queue = at++;
    parked_ -= std::erase_if(queue->second.waiting, gone);
    DropIfUnused(queue);
  }
  for (auto& [way, taken] : taken_) {
    std::erase_if(taken.fresh, gone);
    std::erase_if(taken.begun, gone);
  }
}

void Admission::DropIfUnused(Queues::iterator queue) {
  if (queue->second.waiting.empty() && queue->second.trying == 0) queues_.erase(queue);
}

std::optional<Time> Admission::retry_timer() const {
  std::optional<Time> next;
  for (const auto& [name, queue] : queues_) {
    if (queue.failures > 0 && may_try(name, queue)) next = Earlier(next, queue.not_before);
  }
  return next;
}

}  // namespace fanline::pusher
