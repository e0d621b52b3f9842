// Makes the live timelines of the ranges it owns agree with the truth, hint by hint. A hint says
// "look again", never what to do, so a hint seen twice, late or together with others leaves the
// same timelines. A timeline that is not live is skipped, never created: its reader rebuilds it.
//
// It has two halves. Ranges (ranges/ranges.h) takes ranges over, takes their hints from the log and
// saves how far they are done. Units (units/units.h) carries out the hints of open ranges.
//
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <span>
#include <variant>

#include "fanline/consuming/consumer.h"
#include "fanline/model/record.h"
#include "pusher/base/common.h"
#include "pusher/ranges/ranges.h"
#include "pusher/units/units.h"

namespace fanline::pusher {

using Input = std::variant<PartitionAssigned, PartitionRevoked, LogEndSeen, Record, PostStates,
                           FollowerPage, SyncTruth, MutesRead, RangeClaimed, NewsRead, RangeReset,
                           PositionSaved, BatchWritten, SyncApplied, MutesSet, TimelineDropped,
                           PartMarked, RangeOwned, DeadLetterAppended, AuthorWeighed>;

class Pusher {
 public:
  Pusher(const Ports& ports, const Setup& setup, const Limits& limits)
      : common_{ports, setup, limits}, ranges_(common_, units_), units_(common_, ranges_) {}
  Pusher(const Pusher&) = delete;  // its halves refer to each other

  // Takes new hints and the completions of earlier requests, advances every lane as far as it can,
  // and says which offsets may be committed: those whose effect Redis has acknowledged. Ports queue
  // requests; they never block here. Throws Misconfigured if it is assigned a partition that the
  // layout does not have.
  [[nodiscard]] Progress Step(std::span<Input> inputs, Now now);

  // Starts the drain (SIGTERM): from now on no further hint and no further page of an author's
  // followers is started, and no parked unit is tried again. Keep stepping until drained().
  void StopTaking();
  // Whether the drain is over. Work under way is finished, or left to the next owner at the end of
  // a page. The positions are saved, as far as Redis answers, and ordered to be committed.
  // range_owner has noted that no start of ours was a crash.
  bool drained() const { return units_.idle() && ranges_.drained(); }

 private:
  Common common_;
  Ranges ranges_;
  Units units_;
};

}  // namespace fanline::pusher
