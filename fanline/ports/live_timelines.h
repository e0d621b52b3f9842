// Requests: the live timelines in Redis, as the pusher that owns a range writes them. Requests
// under way together may be carried out in any order: submit one that depends on another after the
// other's reply.
//
// Every write is idempotent (a timed-out call may have been applied) and fenced: Redis compares
// `epoch` with own:{tag} of the range, in the same script. If the epoch is lower than own:, another
// owner was or is there: nothing is written, and the reply is kLater, naming "fence", with
// needs_claim. If own: is missing, the reply is the same, naming "redis". All keys of a range carry
// one tag, so a call is carried out as a whole or not at all.
//
// A claim holds for one session with the range's node. Once the connection is lost, or the node
// may have changed (role, run id), requests of ranges claimed before write nothing. They answer
// kLater with needs_claim until the range is claimed again.
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
#include "fanline/model/mark.h"

namespace fanline {

// Post hints of one author with many followers in the range, applied in part: `hints` of them, from
// `offset` on, are applied to all followers up to `reader`, in keyset order (FollowerCursor).
struct BegunHints {
  int64_t offset = 0;
  uint32_t hints = 0;
  uint64_t content = 0;  // a digest of author and posts, and of what was done with each
  UserId reader{};
  bool delivered = false;  // to at least one live timeline
  friend bool operator==(const BegunHints&, const BegunHints&) = default;
};

// How far the hints of a range were applied to its timelines: pos:{tag}. All hints of topic
// generation `generation` below `offset` are applied; those of `begun`, which lie above it in order
// of offset, in part. A position written for another number of ranges counts as missing. All hints
// that the log held at `as_of`, by the pusher's clock, are applied. A pusher that keeps up renews
// it every few seconds, even when no hint came.
struct AppliedPosition {
  uint64_t generation = 0;
  int64_t offset = 0;
  std::vector<BegunHints> begun{};
  UnixMs as_of = 0;  // 0: not known
  friend bool operator==(const AppliedPosition&, const AppliedPosition&) = default;
};

// Raises own: of the range to `epoch`. Refused, without a change, unless `epoch` is higher than the
// own: found.
struct ClaimRange {
  using Reply = struct RangeClaimed;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
};
struct RangeClaimed {
  uint64_t id = 0;
  Status status;
  uint64_t refused_by = 0;  // the own: found, >= epoch; 0 = claimed
  // When claimed:
  uint64_t index = 0;  // the epoch of the takeover that completed live:{tag}; 0: it is not complete
  std::optional<AppliedPosition> position;  // none: missing or foreign
  bool foreign = false;                     // there is one, for another number of ranges
  uint32_t node = 0;  // the Redis node that holds the range; its ranges share its time
};

// Asks who may have become live: the readers whom live:{tag} numbered above `heard`. Each timeline
// that is begun has its reader numbered anew, in the script that makes the key. So a reader who is
// not named, and was not named before, had no timeline when Redis carried this request out.
struct ReadNews {
  using Reply = struct NewsRead;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  uint64_t heard = 0;  // 0: from the beginning
  uint32_t limit = 1;  // of readers in the answer
};
struct NewsRead {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  uint64_t index = 0;    // as in RangeClaimed, now
  uint64_t last = 0;     // the last number that was given
  uint64_t readers = 0;  // listed in live:{tag}, including those whose timeline has expired
  struct Announced {
    UserId reader{};
    uint64_t number = 0;
  };
  // In order of their numbers. As many as the limit: ask on from the last one's number.
  std::vector<Announced> announced;
};

// Gives a range a known state. A takeover names a `position`, to which pos: is set at the end. A
// quarantine names none and leaves pos: and the marks of live: alone, since the owner goes on
// meanwhile. One reset of a range at a time.
struct ResetRange {
  using Reply = struct RangeReset;
  // What becomes of its timelines, which are found by enumerating keys, never by live:. kIndex and
  // kDrop delete those under the range's tag whose reader belongs to another range: they were made
  // when the buckets were cut otherwise.
  enum class Timelines {
    kLeave,  // left as they are
    kIndex,  // all listed in live:, which is then complete, by this epoch
    kDrop,   // all deleted; a takeover empties live:, which is then complete, by this epoch
  };
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  Timelines timelines = Timelines::kLeave;
  std::optional<AppliedPosition> position;
};
struct RangeReset {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  uint64_t dropped = 0;  // timelines deleted
};

// Moves pos: of the range, by compare-and-set: it must hold `expected` (or already `next`).
// Anything else means that Redis was rolled back: nothing is written, and the reply has `mismatch`.
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

// Adds and removes items of many live timelines, and marks authors in them. A batch names a reader
// once, with at most kMaxAddsPerWrite adds and marks. A timeline that is not live is skipped, never
// created. A timeline that cannot take its items because Redis is full is deleted: it must not
// claim more than it has.
inline constexpr uint32_t kMaxAddsPerWrite = 16;
struct TimelineBatch {
  using Reply = struct BatchWritten;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  struct Write {
    UserId reader{};           // of the range
    uint32_t adds_end = 0;     // its adds: from the previous write's end to here
    uint32_t removes_end = 0;  // likewise
    uint32_t marks_end = 0;    // likewise
  };
  std::vector<Write> writes;
  std::vector<Item> adds;  // those not newer than the floor are skipped
  // What is removed is spelled as it was added. Of an item whose time is 0 nobody knows whether it
  // is a repost, and of what: whatever its author has in its place is removed.
  std::vector<Item> removes;
  std::vector<Mark> marks{};
};
struct BatchWritten {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  // One per write, in order. >= 0: it is live, and this many of its items and marks were new. Else
  // one of these.
  static constexpr int8_t kNotLive = -1;    // no such key
  static constexpr int8_t kKeyFailed = -2;  // WRONGTYPE: that key alone, left as it was
  std::vector<int8_t> results;
  uint64_t removed = 0;      // items
  uint64_t trimmed = 0;      // timelines cut back to the window
  uint64_t underfilled = 0;  // timelines deleted by the below-W/2 rule
  uint64_t full = 0;         // timelines deleted (kNotLive) because a full Redis took no more
  std::string key_error;     // an example, when some key failed: its name, and what Redis says
};

enum class TimelineState { kNotLive, kBuilding, kReady };

// The followed authors who may have posts that are merged at read, as a live timeline names them.
struct Marks {
  std::vector<UserId> authors;
  std::vector<UserId> no_reposts = {};  // ascending: of these, no reposts are to be merged
  bool more = false;  // there are more than it can name; only the truth knows them
  // Of an author whose mark is about to change a timeline may hold both until its sync: then all is
  // merged, once.
  void Add(const Mark& mark) {
    const bool known = std::find(authors.begin(), authors.end(), mark.author) != authors.end();
    if (!known) authors.push_back(mark.author);
    if (!mark.no_reposts) {
      std::erase(no_reposts, mark.author);
    } else if (!known) {
      no_reposts.insert(std::upper_bound(no_reposts.begin(), no_reposts.end(), mark.author),
                        mark.author);
    }
  }
  bool any() const { return more || !authors.empty(); }
  friend bool operator==(const Marks&, const Marks&) = default;
};

// Makes one reader's timeline agree with one author: marks the author or removes the mark, takes
// out the author's items that are not among `items`, adds of these what is newer than the floor,
// then raises the floor to at least `floor_at_least`. Items of the author that are newer than that
// are named, all of them. Deletes the timeline instead if it is building (its rebuild starts again)
// or if a full Redis takes no more.
struct ApplySync {
  using Reply = struct SyncApplied;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  UserId reader{};
  UserId author{};
  std::vector<Item> items;  // of the author, newest first
  std::optional<UnixMs> floor_at_least{};
  bool marked = false;      // the author
  bool no_reposts = false;  // Mark::no_reposts
};
struct SyncApplied {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  bool live = false;  // the key was there and ready; if not, it is gone now
  bool full = false;  // it was deleted: a full Redis took no more
};

// Makes one reader's timeline name the version of the reader's mutes. Deletes the timeline instead
// if it is building (its rebuild starts again) or if a full Redis takes no more.
struct SetMutes {
  using Reply = struct MutesSet;
  uint64_t id = 0;
  Range range = 0;
  uint64_t epoch = 0;
  UserId reader{};
  uint64_t mutes = 0;  // Mutes::mark of the reader's
};
struct MutesSet {
  uint64_t id = 0;
  Status status;
  bool needs_claim = false;
  bool live = false;  // the key was there and ready
  bool full = false;  // it was deleted: a full Redis took no more
};

// Makes one timeline not live (quarantine).
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

// Sets the bit of a finished part of a sampled publish in done:{tag(author)}:post. `parts` hints
// were appended for the publish; a repetition may append others, and another number. Not fenced:
// bits only grow. A failure is reported and never retried: this is a measurement.
struct MarkPart {
  using Reply = struct PartMarked;
  uint64_t id = 0;
  UserId author{};
  PostId post{};
  uint32_t part = 0;  // the range
  uint32_t parts = 1;
  bool delivered = false;  // this part reached at least one live timeline
};
struct PartMarked {
  uint64_t id = 0;
  Status status;
  bool first_delivery = false;  // this call set the first bit with a delivery
  bool last_part = false;       // this call brought the last missing part; set once
  bool any_delivery = false;    // some part delivered something
};

// The sizes that every writer and reader of timelines must agree on.
struct WindowLimits {
  uint32_t window = 450;       // W: items a trimmed timeline keeps
  uint32_t max_entries = 512;  // items + sentinels never exceed this: zset-max-listpack-entries

  // Two sentinels, the version of the mutes, and what one write may add before a trim.
  static constexpr uint32_t kBeside = 3 + kMaxAddsPerWrite;
  bool fits() const { return window > 0 && window + kBeside <= max_entries; }
  uint32_t underfilled_below() const { return window / 2; }
  // A timeline with more members than this is trimmed, so that one more write of kMaxAddsPerWrite
  // items still fits max_entries.
  uint32_t trim_above() const { return max_entries - kMaxAddsPerWrite; }
  // Items that a rebuild may keep beyond the window, so that its floor does not separate items with
  // the same created_at. They leave room for T, F and the next write.
  uint32_t spare() const { return std::max(trim_above(), 2 + window) - 2 - window; }
  // The most authors that a timeline names as merged at read. If needed they take the room of
  // items; a trimmed timeline still holds half a window.
  uint32_t most_marks() const { return std::min(kMostMarks, window / 2); }
  static constexpr uint32_t kMostMarks = 32;
};

}  // namespace fanline
