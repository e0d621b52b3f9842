// Requests: table range_owner(range, epoch, last_offset, starts), on the shard of the range's first
// bucket. Epochs only grow.
#pragma once

#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline {

// Bumps epoch and starts. A start that is never settled is a crash.
struct AcquireRange {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
};
// Sets epoch to max(epoch, above) + 1 and leaves starts alone: Redis knows a higher epoch (a
// MariaDB failover may reissue one), or the same owner claims again.
struct RaiseEpoch {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t above = 0;
};
// Notes that the hint at `offset` is about to be started (only while a crash is suspected). Refused
// when the row carries another epoch than the asker's: crashes are counted for the owner, and a
// pusher that was replaced must neither clear its successor's count nor name a suspect.
struct SaveStart {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  int64_t offset = 0;
};
// Says that the owner's start was no crash. A start that lasted clears earlier suspicions. A start
// that ended because its owner was told to go proves nothing: the row becomes what AcquireRange
// found. Refused as SaveStart is.
struct SettleRange {
  using Reply = struct RangeOwned;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  uint32_t starts = 0;
  int64_t last_offset = -1;
};
struct RangeOwned {
  uint64_t id = 0;
  Status status;
  uint64_t epoch = 0;
  int64_t last_offset = -1;  // as it was before
  uint32_t starts = 0;       // including this one
  bool refused = false;      // the row carries another epoch: it was left as it is
};

}  // namespace fanline
