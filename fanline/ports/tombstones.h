// Requests of whoever collects tombstones (reconciler/tombstone_collector.h). An unfollow leaves a
// tombstone in both rows of its edge, which keeps older changes out. Once no older change can come
// any more, the tombstones are deleted, the reverse row's first. Repeating a request does no harm.
//
// The horizon of a shard says from when on relations are known: a tombstone that was written before
// it may be gone. Whoever brings changes of the past (a relation event, a message of relation-log,
// an entry of the retries, an import) refuses what is older. It is moved on before anything is
// deleted, and kept where the tombstones were, with the forward rows: a shard that is restored has
// the tombstones and the horizon of one moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline {

// A tombstone as it was read. It is deleted only if it still has this version.
struct Tombstone {
  EdgeKey edge;
  uint64_t ver = 0;
  friend bool operator==(const Tombstone&, const Tombstone&) = default;
};

// Since when have all rows of this shard been compared on primaries, in both directions?
struct ReadScanPassed {
  using Reply = struct ScanPassed;
  uint64_t id = 0;
  Shard shard = 0;
};
struct ScanPassed {
  uint64_t id = 0;
  Status status;
  // When the last whole pass began that read primaries alone, the earlier of the two; 0: in one
  // direction none has ended.
  UnixMs passed = 0;
};

// Moves the horizon of the shard on, unless it is further already.
struct RaiseHorizon {
  using Reply = Acknowledged<RaiseHorizon>;
  uint64_t id = 0;
  Shard shard = 0;
  UnixMs horizon = 0;
};
using HorizonRaised = RaiseHorizon::Reply;

// Reads the next `limit` forward rows behind the sweep's place, which the shard keeps for all who
// sweep it, if a sweep is under way or due: `every` after the last one began.
struct ReadTombstones {
  using Reply = struct TombstonesRead;
  uint64_t id = 0;
  Shard shard = 0;
  UnixMs before = 0;
  uint32_t limit = 0;
  std::chrono::seconds every{0};
};
struct TombstonesRead {
  uint64_t id = 0;
  Status status;
  bool due = false;
  // Those written before `before`, also by their version, that no friendship has touched: a
  // friendship's row is kept for ever, and says nothing of an unfollow that came after it.
  std::vector<Tombstone> tombstones;
  EdgeKey after, last;  // the place; the last row of this page
  uint64_t rows = 0;    // that were read
  bool over = false;    // these were the last rows
};

// Deletes the rows of one direction that are still these tombstones, on the shard of their owners
// (reverse: of dst). A forward row goes only if it was written before `before`.
struct DropTombstones {
  using Reply = struct TombstonesDropped;
  uint64_t id = 0;
  Shard shard = 0;
  bool reverse = false;
  UnixMs before = 0;  // forward rows only
  std::vector<Tombstone> tombstones;
};
struct TombstonesDropped {
  uint64_t id = 0;
  Status status;
  uint64_t deleted = 0;
  std::vector<Tombstone> gone;  // those that have no row now, on the primary
};

// Moves the sweep's place on, unless another sweeper has moved it meanwhile.
struct MoveTombstoneSweep {
  using Reply = Acknowledged<MoveTombstoneSweep>;
  uint64_t id = 0;
  Shard shard = 0;
  EdgeKey from, to;  // `to` of two zeros: the sweep is over
};
using TombstoneSweepMoved = MoveTombstoneSweep::Reply;

}  // namespace fanline
