// Requests: the live timelines in Redis, as the pusher that owns a range writes them. Those under
// way together may be carried out in any order: one that depends on another is submitted after its
// reply.
//
// Every write is idempotent (a timed-out call may have been applied) and fenced: Redis compares
// `epoch` with own:{tag} of every bucket the call touches, in the same script. Lower than own:
// (another owner was or is there) = nothing was written, and the reply is kLater, naming "fence",
// and needs_claim; so it is, naming "redis", when own: is missing.
//
// A claim holds for one session with the bucket's node. When the connection is lost, or the node
// may have changed (role, run id), requests of ranges claimed before answer kLater with
// needs_claim, without having been written after the change, until the range is claimed again.
//
// schemas/redis/README.md describes the keys and scripts behind this port.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"

namespace fanline {

// How far the hints of a range were applied to a bucket's timelines: pos:{tag}. All hints of
// topic generation `generation` below `offset` are in.
struct AppliedPosition {
  uint64_t generation = 0;
  int64_t offset = 0;
  friend bool operator==(const AppliedPosition&, const AppliedPosition&) = default;
};

// Raises own: of all buckets of the range to `epoch`. Refused, with nothing raised that was
// higher, unless epoch is strictly higher than every own: found.
struct ClaimRange {
  using Reply = struct RangeClaimed;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
};
struct RangeClaimed {
  uint64_t id = 0;
  Status status;
  uint64_t refused_by = 0;  // an own: >= epoch; 0 = claimed
  struct BucketState {
    bool index_complete = false;              // live:{tag} has its header member
    std::optional<AppliedPosition> position;  // none: missing
  };
  std::vector<BucketState> buckets;  // in bucket order, when claimed
};

// Deletes every timeline of the buckets in `drop` (found by enumerating keys, never by live:),
// lists every timeline of those in `index` in live:, and gives both their header. As the second
// half of taking over a range it then sets pos: of *all* buckets of the range to `position`; a
// quarantine names none, and pos: is left alone: SavePosition may move it meanwhile. One at a time
// of a range.
struct ResetRange {
  using Reply = struct RangeReset;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  std::vector<Bucket> drop;
  std::vector<Bucket> index;
  std::optional<AppliedPosition> position;
};
struct RangeReset {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  uint64_t dropped = 0;  // timelines deleted
};

// pos: of all buckets of the range, by compare-and-set: each must hold `expected` (or already
// `next`). Anything else = Redis was rolled back under us: nothing more is written, `mismatch`.
struct SavePosition {
  using Reply = struct PositionSaved;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  AppliedPosition expected;
  AppliedPosition next;
};
struct PositionSaved {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  bool mismatch = false;
};

// Adds and removes items of many live timelines. A reader stands in a batch once, with at most
// kMaxAddsPerWrite adds. A timeline that is not live is skipped, never created. One that cannot
// take its items, because Redis is full, is deleted: it must not claim more than it has.
inline constexpr uint32_t kMaxAddsPerWrite = 16;
struct TimelineBatch {
  using Reply = struct BatchWritten;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  struct Write {
    UserId reader{};
    Bucket bucket = 0;
    uint32_t adds_end = 0;     // its adds: from the previous write's end to here
    uint32_t removes_end = 0;  // likewise
  };
  std::vector<Write> writes;  // grouped by bucket
  std::vector<Item> adds;     // created_at and post; those not newer than the floor are left out
  std::vector<PostId> removes;
};
struct BatchWritten {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  // Per write, in order: >= 0: live, so many of its items were new; else one of these.
  static constexpr int8_t kNotLive = -1;    // no such key (or pruned by live:)
  static constexpr int8_t kKeyFailed = -2;  // WRONGTYPE: that key alone, left as it was
  std::vector<int8_t> results;
  uint64_t pruned = 0;       // of the kNotLive ones, those found by live: without a script
  uint64_t removed = 0;      // items
  uint64_t trimmed = 0;      // timelines cut back to the window
  uint64_t underfilled = 0;  // timelines deleted by the below-W/2 rule
  uint64_t full = 0;         // timelines deleted (kNotLive) because a full Redis took no more
  std::string key_error;     // an example, when some key failed or was deleted so
};

enum class TimelineState { kNotLive, kBuilding, kReady };

struct ReadTimeline {
  using Reply = struct TimelineRead;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  UserId reader{};
};
struct TimelineRead {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  TimelineState state = TimelineState::kNotLive;
  std::vector<PostId> members;  // when ready, newest first
};

// One reader made to agree with one author. Removes, then adds those newer than the floor, and
// raises the floor to at least `floor_at_least`. A building timeline is deleted instead: its
// rebuild starts again. So is one that a full Redis lets take no more.
struct ApplySync {
  using Reply = struct SyncApplied;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  UserId reader{};
  std::vector<PostId> removes;
  std::vector<Item> adds;  // newest first
  std::optional<UnixMs> floor_at_least;
};
struct SyncApplied {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  bool live = false;  // the key was there and ready
  bool full = false;  // it was deleted: a full Redis took no more
};

// Makes one timeline not live (quarantine; a building one met by a sync).
struct DropTimeline {
  using Reply = struct TimelineDropped;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  UserId reader{};
};
struct TimelineDropped {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
};

// A part of a sampled publish is finished: sets its bit in done:{tag(author)}:post. Not fenced
// (bits only grow); a failure is reported and never retried: it is a measurement.
struct MarkPart {
  using Reply = struct PartMarked;
  uint64_t id = 0;
  UserId author{};
  PostId post{};
  uint32_t part = 0;
  uint32_t parts = 1;
  bool delivered = false;  // this part reached at least one live timeline
};
struct PartMarked {
  uint64_t id = 0;
  Status status;
  bool first_delivery = false;  // this call set the first bit with a delivery
  bool last_part = false;       // this call set the last missing bit
  bool any_delivery = false;    // some part delivered something
};

// What every writer and reader of timelines must agree on.
struct WindowLimits {
  uint32_t window = 450;       // W: items a trimmed timeline keeps
  uint32_t max_entries = 512;  // items + sentinels never exceed this: zset-max-listpack-entries

  // Two sentinels, and what one write may add before a trim.
  static constexpr uint32_t kBeside = 2 + kMaxAddsPerWrite;
  bool fits() const { return window > 0 && window + kBeside <= max_entries; }
  uint32_t underfilled_below() const { return window / 2; }
  // Trimmed when it holds more members than this, so that one more write of kMaxAddsPerWrite
  // items still fits max_entries.
  uint32_t trim_above() const { return max_entries - kMaxAddsPerWrite; }
  // Items that a rebuild may keep beyond the window, so that its floor does not stand in the midst
  // of items of one moment. T and F count; the next add has its room.
  uint32_t spare() const { return std::max(trim_above(), 2 + window) - 2 - window; }
};

}  // namespace fanline
