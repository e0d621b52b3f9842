#include "pusher/units/parking.h"

#include <algorithm>

namespace fanline::pusher {

// Units that were under way together when the resource went away count as one failure.
void Parking::Failed(Queue& queue, Time now, uint64_t random) {
  if (queue.failures > 0 && now < queue.not_before) return;
  queue.at_once = 1;
  queue.not_before = now + backoff_.Delay(++queue.failures, random);
}

void Parking::Park(const std::string& resource, uint64_t unit, Time now, uint64_t random) {
  const auto queue = queues_.try_emplace(resource).first;
  const auto tried = trying_.find(unit);
  const bool again = tried != trying_.end() && tried->second == queue;
  // A unit that did not wait here shows that the resource went away, not that it is still away.
  if (again || queue->second.failures == 0) Failed(queue->second, now, random);
  queue->second.waiting.push_back(unit);
  ++parked_;
  if (tried == trying_.end()) return;
  const auto before = tried->second;
  trying_.erase(tried);
  --before->second.trying;
  DropIfUnused(before);
}

std::optional<uint64_t> Parking::Take(Time now, const Room& room) {
  for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
    if (queue->second.failures > 0 && now < queue->second.not_before) continue;
    if (!queue->second.may_try(room)) continue;
    const uint64_t unit = queue->second.waiting.front();
    queue->second.waiting.pop_front();
    ++queue->second.trying;
    trying_.emplace(unit, queue);
    --parked_;
    return unit;
  }
  return std::nullopt;
}

void Parking::GotThrough(uint64_t unit) {
  const auto tried = trying_.find(unit);
  if (tried == trying_.end()) return;
  const auto queue = tried->second;
  trying_.erase(tried);
  --queue->second.trying;
  queue->second.failures = 0;
  queue->second.at_once = std::min(queue->second.at_once + 1, most_);
  DropIfUnused(queue);
}

void Parking::Forget(const std::function<bool(uint64_t unit)>& gone) {
  std::erase_if(trying_, [&](const auto& tried) {
    if (!gone(tried.first)) return false;
    --tried.second->second.trying;
    return true;
  });
  for (auto queue = queues_.begin(); queue != queues_.end();) {
    const auto current = queue++;
    parked_ -= std::erase_if(current->second.waiting, gone);
    DropIfUnused(current);
  }
}

std::optional<Time> Parking::timer(const Room& room) const {
  std::optional<Time> next;
  for (const auto& [resource, queue] : queues_) {
    if (queue.failures == 0 || !queue.may_try(room)) continue;
    next = next ? std::min(*next, queue.not_before) : queue.not_before;
  }
  return next;
}

void Parking::DropIfUnused(Queues::iterator queue) {
  if (queue->second.waiting.empty() && queue->second.trying == 0) queues_.erase(queue);
}

}  // namespace fanline::pusher
