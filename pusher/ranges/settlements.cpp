#include "pusher/ranges/settlements.h"

#include <algorithm>

namespace fanline::pusher {

void Settlements::Lasted(Range range, const OwnStart& start) {
  Tell({.range = range, .start = start.token, .lasted = start.epoch, .ended = false});
}

void Settlements::Leave(Range range, const OwnStart& start, bool lasted) {
  Tell({.range = range, .start = start.token, .lasted = lasted ? start.epoch : 0});
}

void Settlements::Tell(const SettleRange& settled) {
  Send(open_[settled.range] = {.to_tell = settled});
}

void Settlements::Send(Open& open) {
  open.retry_at.reset();
  open.awaited = open.to_tell.id = ++common_.ids;
  common_.ports.owners.Submit(open.to_tell);
}

std::optional<Range> Settlements::On(const RangeOwned& reply, Now now, uint64_t random) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&reply](const auto& entry) {
    return entry.second.awaited == reply.id;
  });
  if (found == open_.end()) return std::nullopt;
  const Range range = found->first;
  Open& open = found->second;
  open.awaited = 0;
  if (reply.status.done()) {
    open_.erase(found);
  } else {
    open.retry_at = now.mono + common_.limits.takeover.Delay(++open.attempts, random);
  }
  return range;
}

void Settlements::OnTimer(Now now) {
  for (auto& [range, open] : open_) {
    if (open.retry_at && *open.retry_at <= now.mono) Send(open);
  }
}

std::optional<Time> Settlements::timer() const {
  std::optional<Time> next;
  for (const auto& [range, open] : open_) next = Earlier(next, open.retry_at);
  return next;
}

}  // namespace fanline::pusher
