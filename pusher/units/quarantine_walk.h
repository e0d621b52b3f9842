// Walks over a range's keys and makes all its timelines not live, so that their readers rebuild
// them. A quarantine begins with a walk if it cannot tell the hint's readers.
//
// A range has one walk at a time, which serves all units that wait when it begins. A unit that
// comes later needs the next walk: a timeline that this one has passed may have been rebuilt since,
// without the unit's hint. Units whose walk failed are parked, and need another when they are
// tried.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/ports/live_timelines.h"

namespace fanline::pusher {

class QuarantineWalk {
 public:
  // A unit waits for a walk from now on.
  void Need(uint64_t unit) { waiting_.push_back(unit); }
  // Whether a walk is to begin now.
  bool due() const { return !waiting_.empty() && id_ == 0; }
  // Begins a walk under this id. It leaves pos: alone, because positions are saved meanwhile.
  ResetRange Begin(uint64_t id, Range range, uint64_t epoch) {
    id_ = id;
    served_ = std::exchange(waiting_, {});
    return {id, range, epoch, ResetRange::Timelines::kDrop, std::nullopt};
  }
  bool under_way(uint64_t id) const { return id_ == id; }
  // Ends the walk under way. Returns the units that it served.
  std::vector<uint64_t> Ended() {
    id_ = 0;
    return std::exchange(served_, {});
  }

 private:
  std::vector<uint64_t> waiting_;  // units, for the next walk
  std::vector<uint64_t> served_;   // units, by the walk under way
  uint64_t id_ = 0;                // of the walk under way; 0: none
};

}  // namespace fanline::pusher
