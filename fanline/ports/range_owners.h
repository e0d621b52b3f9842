// Requests: tables range_owner(range, epoch) and range_start(range, token, epoch, hint), on the
// shard of the range's first bucket. Epochs only grow.
//
// A start lasts from an assignment of the range until the process ends or gives the range up. Its
// owner draws a token for it. An orderly end settles the start; a start that nobody settles was a
// crash. Settling goes by the token, so it may come late, after others have acquired the range, and
// concerns this start alone. An owner that lasts has the starts before it forgiven, but its own
// goes on: it may still end in a crash.
#pragma once

#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline {

// While this many starts of others are unsettled, a pusher tries one hint at a time, by name.
inline constexpr uint32_t kSuspicious = 2;

// Bumps the epoch and notes the start. Repeated, it gives another epoch to the same start.
struct AcquireRange {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t start = 0;
};
// Sets epoch to max(epoch, above) + 1 and notes no start: Redis knows a higher epoch (a shard's
// failover may reissue one), or the same owner claims again. The start then names no hint.
struct RaiseEpoch {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t above = 0;
  uint64_t start = 0;
};
// Notes that the start is about to try the hint at `offset`, or none (-1). Sent only while crashes
// are suspected (kSuspicious). Once an answer, to this request or another, reports fewer crashes,
// the start names no hint: hints are tried together again. Refused if the row has another epoch
// than the asker's: a pusher that was replaced must try nothing.
struct SaveStart {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  int64_t offset = 0;
  uint64_t start = 0;
};
// Says that the start `ended` without a crash: its owner was told to go. That proves nothing about
// others. An owner that lasted has proved itself, under the epoch `lasted`: all starts of others up
// to that epoch are forgiven.
struct SettleRange {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t start = 0;
  uint64_t lasted = 0;  // 0: it did not
  bool ended = true;    // false: it goes on
};
struct RangeOwned {
  uint64_t id = 0;
  Status status;
  uint64_t epoch = 0;
  uint32_t crashes = 0;    // starts of others that are not settled (yet)
  bool suspected = false;  // SaveStart: one of them was trying this hint alone
  bool refused = false;    // the row has another epoch; nothing was changed
};

}  // namespace fanline
