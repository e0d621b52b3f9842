// Requests: tables range_owner(range, epoch) and range_start(range, token, epoch, hint), on the
// shard of the range's first bucket. Epochs only grow.
//
// A start is the time from an assignment of the range to the process's end, or to the word that the
// range was given up. Its owner draws a token for it. Whoever ends in an orderly way settles its
// start; one that nobody settles was a crash. A start is settled by its token, so the word may come
// late, after others have acquired the range, and takes back this start alone. An owner that lasts
// has those before it forgiven, but its own start goes on: it may still end in a crash.
#pragma once

#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline {

// While so many starts of others are unsettled, a pusher tries one hint at a time, by name.
inline constexpr uint32_t kSuspicious = 2;

// Bumps the epoch and notes the start. Repeated, it gives another epoch to the same start.
struct AcquireRange {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t start = 0;
};
// Sets epoch to max(epoch, above) + 1 and notes no start: Redis knows a higher epoch (a MariaDB
// failover may reissue one), or the same owner claims again. Whatever hint it was trying, it tries
// no longer.
struct RaiseEpoch {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t above = 0;
  uint64_t start = 0;
};
// Notes that the start is about to try the hint at `offset`, or none (-1): only while crashes are
// suspected (kSuspicious). From the answer on that tells of fewer, of this request or of another,
// the start names no hint: others are tried beside it. Refused when the row carries another epoch
// than the asker's: a pusher that was replaced must try nothing.
struct SaveStart {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  int64_t offset = 0;
  uint64_t start = 0;
};
// Says that the start `ended`, and was no crash: its owner was told to go. That proves nothing
// about others. An owner that lasted has proved itself, under the epoch `lasted`: all starts of
// others up to that one are forgiven.
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
  uint32_t crashes = 0;    // starts of others that are not settled, or not yet
  bool suspected = false;  // SaveStart: one of them was trying this hint alone
  bool refused = false;    // the row carries another epoch: all was left as it is
};

}  // namespace fanline
