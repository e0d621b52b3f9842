// What range_owner is still to be told about starts of ours, per range: that a start lasted, or
// that it ended because we were told to go. Said again, with back-off, until it is carried out or
// refused: one that is never said counts as a crash. Whoever acquires the range beside us makes it
// moot, and the epoch refuses it then.
//
// While something is open about a range, an AcquireRange of ours would make it moot too: it is not
// to be sent before (open()).
//
// At most one request a range is under way. Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"
#include "fanline/ports/port.h"
#include "fanline/ports/range_owners.h"

namespace fanline::pusher {

// A start of ours, as the range's row knows it.
struct OwnStart {
  uint64_t epoch = 0;    // the newest that we were given; 0: none yet
  uint32_t starts = 0;   // acquisitions whose end is unknown
  int64_t suspect = -1;  // the offset being worked on at the last crash, or -1
  bool counted = false;  // `starts` includes this one

  // Starts before this one that were never settled.
  uint32_t crash_count() const { return starts - (counted ? 1 : 0); }

  // From the answer to an AcquireRange, or to a RaiseEpoch of the same start.
  void Learn(const RangeOwned& answer);
  // From a SettleRange that was carried out; one of another epoch says nothing.
  void Settled(const SettleRange& settled);
};

class Settlements {
 public:
  struct Answered {
    std::optional<SettleRange> carried_out;
  };

  // `ids` gives request ids; it outlives this object.
  Settlements(Port<SettleRange> owners, const Backoff& backoff, uint64_t& ids)
      : owners_(owners), backoff_(backoff), ids_(ids) {}

  // The start proved itself: nothing is suspected any more.
  void Lasted(Range range, const OwnStart& start);
  // The start ends because we were told to go: it is taken back, and the row is left as it was
  // found. `asked`: the request for an epoch that is not answered yet, whose answer is then for
  // us; or 0, of a start that has its epoch.
  void Leave(Range range, const OwnStart& start, uint64_t asked);

  // Offers a reply; something when it was expected here.
  std::optional<Answered> On(const RangeOwned& reply, Now now, uint64_t random);
  void OnTimer(Now now);

  bool open(Range range) const { return open_.contains(range); }
  bool empty() const { return open_.empty(); }
  // What to wait for, if anything.
  std::optional<Time> timer() const;

 private:
  struct Open {
    OwnStart start;
    uint64_t awaited = 0;                  // id of the request under way
    std::optional<SettleRange> to_tell{};  // none: the epoch is not known yet
    uint32_t attempts = 0;
    std::optional<Time> retry_at{};
  };

  void TakeBack(Range range, Open& open);
  void Tell(Open& open);

  const Port<SettleRange> owners_;
  const Backoff backoff_;
  uint64_t& ids_;
  std::map<Range, Open> open_;
};

}  // namespace fanline::pusher
