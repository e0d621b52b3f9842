// Walks over a range's keys and makes all its timelines not live, so that their readers rebuild
// them. A quarantine begins with a walk if it cannot tell the hint's readers.
//
// A range has one walk at a time, which serves all units that wait when it begins. A unit that
// comes later needs the next walk: a timeline that this one has passed may have been rebuilt since,
// without the unit's hint. Units whose walk failed are parked, and need another when they are
// tried.
//
// A unit waits for units that have read the truth, or a list, and are about to write. Otherwise
// they might write into a timeline that was dropped and rebuilt meanwhile.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fanline/ports/live_timelines.h"

namespace fanline::pusher {

class QuarantineWalk {
 public:
  // A unit waits for a walk from now on, which begins once each unit of `behind` is settled.
  void Need(uint64_t unit, std::unordered_set<uint64_t> behind) {
    waiting_.push_back({unit, std::move(behind)});
  }
  // The unit has written what it had read, or will read again.
  void Settled(uint64_t unit) {
    for (Waiting& each : waiting_) each.behind.erase(unit);
  }
  // Whether a walk is to begin now.
  bool due() const { return id_ == 0 && std::any_of(waiting_.begin(), waiting_.end(), IsNext); }
  // Begins a walk under this id. It leaves pos: alone, because positions are saved meanwhile.
  ResetRange Begin(uint64_t id, Range range, uint64_t epoch) {
    id_ = id;
    for (const Waiting& each : waiting_) {
      if (IsNext(each)) served_.push_back(each.unit);
    }
    std::erase_if(waiting_, IsNext);
    return {id, range, epoch, ResetRange::Timelines::kDrop, std::nullopt};
  }
  bool under_way(uint64_t id) const { return id_ == id; }
  // Ends the walk under way. Returns the units that it served.
  std::vector<uint64_t> Ended() {
    id_ = 0;
    return std::exchange(served_, {});
  }

 private:
  struct Waiting {  // for a walk that has not begun
    uint64_t unit = 0;
    std::unordered_set<uint64_t> behind;
  };
  static bool IsNext(const Waiting& each) { return each.behind.empty(); }

  std::vector<Waiting> waiting_;
  std::vector<uint64_t> served_;  // units, by the walk under way
  uint64_t id_ = 0;               // of the walk under way; 0: none
};

}  // namespace fanline::pusher
