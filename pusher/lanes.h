// The lanes of one range. All hints of one author form a lane and keep their order; lanes commute
// and take turns. The head of a lane - a run of syncs, of posts, or of undecodable hints - is taken
// as a unit. Nothing behind it is taken before that unit is finished.
//
// When some hint of a unit can never be carried out, its lane is taken apart: one hint a unit until
// the lane is empty, so that only the culprit is quarantined.
//
// A unit that waits for a resource that is away is parked, and its lane with it: the hints behind
// the head can be worked on no more than the head. Parked hints are counted.
//
// Lanes of authors of one MariaDB shard take turns among themselves, for the shard may hang. Each
// shard has an equal share of the hints that a range holds to be worked on
// (fanline/consuming/shard_shares.h).
//
// Unbounded: the owner bounds what it adds (inflow.h). Passive, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/consuming/shard_shares.h"
#include "fanline/ports/live_timelines.h"
#include "pusher/limits.h"
#include "pusher/unit.h"

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

  // The head of some lane of the shard, or of any, or of the author's, may be taken.
  bool runnable(Shard shard) const { return !runnable_[shard].empty(); }
  bool runnable() const;
  bool runnable(UserId author) const;
  // Whose turn it is of the shard's runnable lanes.
  UserId next(Shard shard) const { return runnable_[shard].front(); }
  // The head of the author's runnable lane, whoever's turn it is; the caller fills in id, range,
  // epoch, node and place. The unit has one hint when `singly`. A unit of syncs has at most `syncs`
  // of them, but always one. Hints that `begun` names by their first offset are a unit again, and
  // no others with them.
  Unit Take(UserId author, bool singly, size_t syncs, const std::map<int64_t, BegunHints>& begun);

  // Each unit taken ends by one of these, or by Clear.
  void Finished(const Unit& unit);
  void TakeApart(Unit unit);  // its hints are next, one by one

  void SetParked(const Unit& unit, bool parked);
  void Clear();

  size_t units() const { return units_; }                    // taken and not ended
  size_t working() const { return units_ - parked_units_; }  // of these, not parked
  const ShardShares& hints() const { return shares_; }       // those of units taken too

 private:
  struct Lane {
    std::deque<ReceivedHint> waiting;
    Shard shard = 0;
    size_t units = 0;                                 // at most one (the guard)
    size_t parked = 0;                                // parked hints: of the unit and behind it
    std::optional<std::list<UserId>::iterator> turn;  // stands there among the runnable
    bool singly = false;                              // being taken apart
  };

  size_t MostHints(const Lane& lane, size_t syncs,
                   const std::map<int64_t, BegunHints>& begun) const;
  void Queue(UserId author, Lane& lane);

  const Limits* limits_;
  const ShardMap* map_;
  const bool in_order_;
  ShardShares shares_;
  std::unordered_map<UserId, Lane> lanes_;
  std::vector<std::list<UserId>> runnable_;  // by shard, in turn
  size_t units_ = 0;
  size_t parked_units_ = 0;
};

}  // namespace fanline::pusher
