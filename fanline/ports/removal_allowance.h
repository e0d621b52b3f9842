// How many followers all reconcilers together may remove from one shard of reverse rows in a
// minute. A forward shard that was restored from an old backup, or wiped, must not erase followers.
// The allowance is one row (table removal_allowance), changed under its lock: removals that were
// taken stay taken, even when their reconciler dies.
//
// A minute begins with its first removal, so any 60 seconds may touch two minutes, and see at most
// twice as many removals.
//
// A request that is granted fewer removals than it wanted opens the breaker: nothing more is
// granted until an operator closes it. An installation numbers its closings, each higher than all
// before (backends/mysql/installation/settings.h). So a reconciler that has not heard of a closing
// can neither undo it nor close a breaker that opened after it. When the last number is lost,
// breakers that opened before it are open again, and the next closing closes them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline {

// Asks for `wanted` removals, before they are made. A repetition after a lost answer takes as many
// once more, so fewer are removed.
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
  UnixMs began = 0;     // the minute's first removal
  uint64_t taken = 0;   // since then
  uint64_t opened = 0;  // closings at its last opening, plus 1; 0: never
};

// How many of the wanted removals are granted. `now`: the clock of the server that keeps `kept`.
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
