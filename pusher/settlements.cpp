#include "pusher/settlements.h"

#include <algorithm>

namespace fanline::pusher {

// Fewer starts than before: an owner that lasted meanwhile cleared ours with the rest. As many:
// nobody crashed since, and the hint that the row names is one that we began ourselves.
void OwnStart::Learn(const RangeOwned& answer) {
  if (epoch == 0) {
    counted = true;
  } else if (answer.starts < starts) {
    counted = false;
  }
  if (epoch == 0 || answer.starts != starts) {
    starts = answer.starts;
    suspect = answer.last_offset;
  }
  epoch = answer.epoch;
}

void OwnStart::Settled(const SettleRange& settled) {
  if (settled.epoch != epoch) return;
  starts = settled.starts;
  suspect = settled.last_offset;
  counted = false;
}

void Settlements::Lasted(Range range, const OwnStart& start) {
  Open& open = open_[range] = {.start = start};
  open.to_tell = SettleRange{.range = range, .epoch = start.epoch};
  Tell(open);
}

void Settlements::Leave(Range range, const OwnStart& start, uint64_t asked) {
  if (asked != 0) {
    open_[range] = {.start = start, .awaited = asked};
  } else {
    TakeBack(range, open_[range] = {.start = start});
  }
}

void Settlements::TakeBack(Range range, Open& open) {
  const OwnStart& start = open.start;
  open.to_tell = SettleRange{.range = range,
                             .epoch = start.epoch,
                             .starts = start.crash_count(),
                             .last_offset = start.suspect};
  Tell(open);
}

void Settlements::Tell(Open& open) {
  open.retry_at.reset();
  open.awaited = open.to_tell->id = ++ids_;
  owners_.Submit(*open.to_tell);
}

std::optional<Settlements::Answered> Settlements::On(const RangeOwned& reply, Now now,
                                                     uint64_t random) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&reply](const auto& entry) {
    return entry.second.awaited == reply.id;
  });
  if (found == open_.end()) return std::nullopt;
  auto& [range, open] = *found;
  Answered answered;
  open.awaited = 0;
  if (!open.to_tell) {
    if (reply.status.done()) open.start.Learn(reply);
    if (open.start.epoch != 0) {
      TakeBack(range, open);
    } else {
      open_.erase(found);  // not acquired
    }
  } else if (!reply.status.done()) {
    open.retry_at = now.mono + backoff_.Delay(++open.attempts, random);
  } else {
    if (!reply.refused) answered.carried_out = open.to_tell;
    open_.erase(found);
  }
  return answered;
}

void Settlements::OnTimer(Now now) {
  for (auto& [range, open] : open_) {
    if (open.retry_at && *open.retry_at <= now.mono) Tell(open);
  }
}

std::optional<Time> Settlements::timer() const {
  std::optional<Time> next;
  for (const auto& [range, open] : open_) next = Earlier(next, open.retry_at);
  return next;
}

}  // namespace fanline::pusher
