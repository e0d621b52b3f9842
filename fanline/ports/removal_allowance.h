// How many followers repairs may remove from one shard of reverse rows: so many a minute, by all
// reconcilers together. A forward shard that was restored from an old backup, or wiped, must not
// erase followers. What is kept of it is one row (table removal_allowance), changed under its lock:
// what was taken stays taken, whoever took it and whatever became of him.
//
// A minute begins with its first removal, so two of them may meet: no 60 seconds have more than
// twice as many.
//
// Whoever is given fewer than he wanted has opened the breaker: from then on nobody is given any,
// until an operator closes it. An installation numbers its closings, each higher than all before
// (backends/mysql/installation/settings.h), so a reconciler that does not know yet of one can
// neither undo it nor close what opened after it. When the last number is lost, what opened before
// it is open again, and the next closing closes it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline {

// Asks for `wanted` removals, before they are made. Asked again when the answer was lost it takes
// as many once more: what is removed is then less.
struct TakeRemovals {
  using Reply = struct RemovalsTaken;
  uint64_t id = 0;
  Shard shard = 0;  // of the reverse rows
  uint32_t wanted = 0;
  uint32_t per_minute = 0;
  uint64_t closings = 0;  // the last that the asker knows of
};
struct RemovalsTaken {
  uint64_t id = 0;
  Status status;
  uint32_t granted = 0;  // fewer than wanted: the breaker is open
};

struct RemovalAllowance {
  UnixMs began = 0;     // of the minute that is counted: of its first removal
  uint64_t taken = 0;   // since then
  uint64_t opened = 0;  // closings when it opened last, and 1; 0: never
};

// How many of what is wanted are given. `now` is the clock of whoever keeps `kept`.
[[nodiscard]] inline uint32_t Take(RemovalAllowance& kept, const TakeRemovals& request,
                                   UnixMs now) {
  constexpr UnixMs kMinute = 60'000;
  if (kept.opened > request.closings) return 0;
  if (now < kept.began) kept.began = now;  // a clock set back must not make the minute endless
  if (now - kept.began >= kMinute) kept = {now, 0, kept.opened};
  const uint64_t left = request.per_minute - std::min<uint64_t>(request.per_minute, kept.taken);
  const uint64_t granted = std::min<uint64_t>(request.wanted, left);
  kept.taken += granted;
  if (granted < request.wanted) kept.opened = request.closings + 1;
  return static_cast<uint32_t>(granted);
}

}  // namespace fanline
