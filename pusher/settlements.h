// Tells range_owner how starts of ours ended, per range: that a start lasted, or that we were told
// to go. Each request is repeated, with back-off, until it is carried out or refused. A start whose
// end is never told counts as a crash. An owner that acquires the range beside us makes the request
// moot, and the epoch refuses it then.
//
// An AcquireRange of ours would make an open request moot too. Send none while open(range).
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
  // The start ends because we were told to go. Takes it back and leaves the row as it was found.
  // `asked`: the id of the request for an epoch that is not answered yet, whose answer is then for
  // us; 0 if the start has its epoch.
  void Leave(Range range, const OwnStart& start, uint64_t asked);

  // Offers a reply; none when it was not for this object.
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
