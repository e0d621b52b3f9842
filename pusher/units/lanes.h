// The lanes of one range. All hints of one author form a lane and keep their order. Lanes are
// independent of each other and take turns. The head of a lane is taken as a unit: a run of syncs,
// of posts, or of undecodable hints. Nothing behind it is taken before that unit is finished.
//
// If some hint of a unit can never be carried out, the lane is taken apart: each hint is a unit of
// its own until the lane is empty. So only the culprit is quarantined.
//
// A unit that waits for a resource that is away is parked together with its lane, because the hints
// behind the head cannot be worked on before it. Parked hints are counted.
//
// Each shard may hang on its own. So the lanes of its authors take turns among themselves, and each
// shard has an equal share of the hints that the range holds to be worked on
// (fanline/consuming/shard_shares.h).
//
// Unbounded: the owner bounds what it adds (inflow.h). Passive, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/consuming/shard_shares.h"
#include "fanline/ports/live_timelines.h"
#include "pusher/base/limits.h"
#include "pusher/units/unit.h"

namespace fanline::pusher {

class Lanes {
 public:
  // `limits` and `map` outlive this object.
  Lanes(const Limits& limits, const ShardMap& map, const MutationSwitches& guards = {})
      : limits_(&limits),
        map_(&map),
        in_order_(guards.lanes_in_order),
        shares_(map.shards(), limits.buffered_hints_per_range),
        runnable_(map.shards()) {}

  // Adds a hint behind the others of its author. Undecodable hints have a lane of their own.
  void Add(ReceivedHint hint);

  // Whether a lane's head may be taken: of some lane of the shard, of any lane, of the author's
  // lane.
  bool runnable(Shard shard) const { return !runnable_[shard].empty(); }
  bool runnable() const;
  bool runnable(UserId author) const;
  // The author whose turn it is among the shard's runnable lanes.
  UserId next(Shard shard) const { return runnable_[shard].front(); }
  // Takes the head of the author's runnable lane, even out of turn. The caller fills in id, range,
  // epoch, node and credit. If `singly`, the unit has one hint. A unit of syncs has at most `syncs`
  // of them, but at least one. Hints that `begun` names by their first offset form the same unit
  // again, without any others.
  Unit Take(UserId author, bool singly, size_t syncs, const std::map<int64_t, BegunHints>& begun);

  // Every unit that is taken ends by one of these.
  void Finished(const Unit& unit);
  void TakeApart(Unit unit);  // its hints come next, one by one

  void SetParked(const Unit& unit, bool parked);
  void SetAwaitingTurn(bool waits) { waits ? ++waiting_units_ : --waiting_units_; }

  size_t units() const { return units_; }  // taken and not ended
  // Of these, neither parked nor waiting for their turn (admission.h).
  size_t working() const { return units_ - parked_units_ - waiting_units_; }
  const ShardShares& hints() const { return shares_; }  // also those of taken units

 private:
  struct Lane {
    std::list<ReceivedHint> waiting;  // an empty one allocates nothing; an empty deque does
    Shard shard = 0;
    size_t units = 0;                                 // at most one, unless the guard is off
    size_t parked = 0;                                // hints of the unit and behind it, if parked
    std::optional<std::list<UserId>::iterator> turn;  // among the runnable lanes; none: not there
    bool singly = false;                              // it is being taken apart
  };

  size_t MostHints(const Lane& lane, size_t syncs,
                   const std::map<int64_t, BegunHints>& begun) const;
  void Queue(UserId author, Lane& lane);

  const Limits* limits_;
  const ShardMap* map_;
  const bool in_order_;
  ShardShares shares_;
  std::unordered_map<UserId, Lane> lanes_;
  std::vector<std::list<UserId>> runnable_;  // by shard, in order of their turns
  size_t units_ = 0;
  size_t parked_units_ = 0;
  size_t waiting_units_ = 0;
};

}  // namespace fanline::pusher
