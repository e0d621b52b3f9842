#include "dispatcher/hint_appends.h"

#include <algorithm>

#include "fanline/base/check.h"
#include "fanline/consuming/answered.h"
#include "fanline/model/headers.h"

namespace fanline::dispatcher {
namespace {

constexpr size_t kRecordBytes = 128;  // of a hint's record, beside its headers: well above any

size_t BytesOf(const HintAppends::Event& event) {
  return kRecordBytes + (event.headers ? fanline::BytesOf(*event.headers) : 0);
}

}  // namespace

HintAppends::HintAppends(Port<AppendHints> hints, Metrics& metrics, size_t ranges,
                         const Limits& limits, uint64_t& ids, const MutationSwitches& guards)
    : hints_(hints),
      metrics_(metrics),
      limits_(limits),
      ids_(ids),
      guards_(guards),
      queues_(ranges) {}

void HintAppends::Add(uint64_t id, Event event) {
  const auto parts = static_cast<uint32_t>(event.ranges.size());
  events_.emplace(id, Held{std::move(event), parts, parts});
  arrived_.push_back(id);
}

void HintAppends::Step(Now now) {
  DropForgotten();
  for (Queue& queue : queues_) {
    if (queue.retry_at && *queue.retry_at <= now.mono) queue.retry_at.reset();
  }
  Spread();
  if (waiting_ > 0) {
    for (size_t range = 0; range < queues_.size(); ++range) Send(static_cast<Range>(range));
  }
  Park();
}

std::optional<Time> HintAppends::timer() const {
  std::optional<Time> first;
  for (const Queue& queue : queues_) {
    if (queue.retry_at && (!first || *queue.retry_at < *first)) first = queue.retry_at;
  }
  return first;
}

// ---- room -----------------------------------------------------------------------------------

size_t HintAppends::MostRecords(const Queue& queue) const {
  return queue.attempts > 0 ? std::min(limits_.records, limits_.per_probe) : limits_.records;
}

// Hints that wait already go first, and are about as large.
bool HintAppends::HasRoom(const Queue& queue, size_t hint_bytes) const {
  return !queue.retry_at && queue.records + queue.waiting.size() < MostRecords(queue) &&
         queue.bytes + queue.waiting.size() * hint_bytes < limits_.bytes;
}

// Forgotten events take no room from others.
void HintAppends::DropForgotten() {
  if (!std::exchange(forgotten_, false)) return;
  const auto gone = [this](uint64_t id) { return !events_.contains(id); };
  std::erase_if(arrived_, gone);
  for (Queue& queue : queues_) {
    waiting_ -= std::erase_if(queue.waiting, gone) + std::erase_if(queue.refused, gone);
  }
}

// Moves the hints of events that arrived to the queues of their ranges. While no range has room, an
// event stays as it is, which takes less memory.
void HintAppends::Spread() {
  size_t free = 0;  // the first range that may have room: those in front of it have none
  while (!arrived_.empty()) {
    const auto held = events_.find(arrived_.front());
    if (held != events_.end()) {
      Event& event = held->second.event;
      const size_t bytes = BytesOf(event);
      while (free < queues_.size() && !HasRoom(queues_[free], bytes)) ++free;
      if (free == queues_.size()) return;
      const std::vector<Range> ranges = std::move(event.ranges);  // what is parked must be small
      for (const Range range : ranges) At(range).waiting.push_back(held->first);
      waiting_ += ranges.size();
      idle_.push_back(held->first);
    }
    arrived_.pop_front();
  }
}

// ---- requests -------------------------------------------------------------------------------

void HintAppends::Send(Range range) {
  Queue& queue = At(range);
  if (queue.retry_at || queue.proving) return;
  if (!queue.refused.empty()) {
    if (queue.records == 0) queue.proving = SendOne(range, queue.refused, 1);
    return;
  }
  while (SendOne(range, queue.waiting, limits_.per_append)) {
  }
}

bool HintAppends::SendOne(Range range, std::deque<uint64_t>& from, size_t most) {
  Queue& queue = At(range);
  AppendHints request{++ids_, {}, {}};
  UnderWay sent{range, {}, 0};
  while (!from.empty() && sent.events.size() < most && queue.records < MostRecords(queue) &&
         queue.bytes < limits_.bytes) {
    const uint64_t id = from.front();
    from.pop_front();
    --waiting_;
    Held& held = events_.at(id);
    ++held.under_way;
    const size_t bytes = BytesOf(held.event);
    ++queue.records;
    queue.bytes += bytes;
    sent.bytes += bytes;
    sent.events.push_back(id);
    request.hints.emplace_back(range, HintFor(held, range));
    request.headers.push_back(held.event.headers);
  }
  if (sent.events.empty()) return false;
  under_way_.emplace(request.id, std::move(sent));
  hints_.Submit(std::move(request));
  return true;
}

Hint HintAppends::HintFor(const Held& held, Range range) const {
  Hint hint = held.event.hint;
  auto& post = std::get<Hint::Post>(hint.what);
  if (post.sample) {
    post.sample->part = static_cast<uint32_t>(range);
    post.sample->parts = held.parts;
  }
  if (held.event.weighed_in != range) post.weighed_since = 0;
  return hint;
}

// ---- replies --------------------------------------------------------------------------------

void HintAppends::On(const HintsAppended& appended, Now now, uint64_t random) {
  const UnderWay sent = TakeAnswered(under_way_, appended.id);
  Queue& queue = At(sent.range);
  queue.records -= sent.events.size();
  queue.bytes -= sent.bytes;
  const bool alone = std::exchange(queue.proving, false);
  std::vector<uint64_t> again;
  std::string resource;  // for which these wait
  auto failed = appended.failed.begin();
  for (size_t hint = 0; hint < sent.events.size(); ++hint) {
    const bool is_failed = failed != appended.failed.end() && failed->hint == hint;
    const Status status = is_failed ? (failed++)->status : Status::Done();
    if (!Settle(sent.events[hint], status, alone)) continue;
    if (status.later()) {
      again.push_back(sent.events[hint]);
      resource = status.resource;
    } else {
      queue.refused.push_back(sent.events[hint]);
      ++waiting_;
    }
  }
  FANLINE_CHECK(failed == appended.failed.end(), "a reply names a hint that was not asked for");
  if (appended.failed.size() < sent.events.size()) {
    metrics_.HintsAppended(sent.events.size() - appended.failed.size());
    queue.attempts = 0;
  }
  if (!again.empty()) {
    metrics_.Parked(resource);
    TryAgain(sent.range, again, now, random);
  }
}

// A hint of the event was answered. Returns whether to append it again. `alone`: it went alone.
bool HintAppends::Settle(uint64_t id, const Status& status, bool alone) {
  const auto found = events_.find(id);
  if (found == events_.end()) return false;
  Held& held = found->second;
  if (--held.under_way == 0) idle_.push_back(id);
  const bool again = status.later() || (status.never() && !alone);
  if (again && guards_.append_again) return true;
  if ((status.done() || again) && --held.open > 0) return false;
  Erase(found);
  ended_.push_back({id, again ? Status::Done() : status});
  return false;
}

// They go ahead of what came later. Answers within one back-off count as one attempt.
void HintAppends::TryAgain(Range range, const std::vector<uint64_t>& events, Now now,
                           uint64_t random) {
  Queue& queue = At(range);
  queue.waiting.insert(queue.waiting.begin(), events.begin(), events.end());
  waiting_ += events.size();
  if (queue.retry_at && *queue.retry_at > now.mono) return;
  queue.retry_at = now.mono + limits_.backoff.Delay(++queue.attempts, random);
}

// ---- what waits -----------------------------------------------------------------------------

void HintAppends::Park() {
  for (const uint64_t id : std::exchange(idle_, {})) {
    const auto found = events_.find(id);
    if (found == events_.end()) continue;
    Held& held = found->second;
    if (held.under_way > 0) continue;
    newly_parked_.push_back(id);
    if (std::exchange(held.parked, true)) continue;
    ++parked_;
    parked_bytes_ += held.event.bytes;
  }
}

void HintAppends::Forget(uint64_t id) {
  if (const auto found = events_.find(id); found != events_.end()) Erase(found);
}

void HintAppends::Erase(Events::iterator held) {
  if (held->second.open > held->second.under_way) forgotten_ = true;
  if (held->second.parked) {
    --parked_;
    parked_bytes_ -= held->second.event.bytes;
  }
  events_.erase(held);
}

}  // namespace fanline::dispatcher
