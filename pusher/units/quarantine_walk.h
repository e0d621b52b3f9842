// Walks over a range's keys and makes all its timelines not live, so that their readers rebuild
// them. A quarantine begins with a walk if it cannot tell the hint's readers.
//
// A range has one walk at a time, which serves all units that wait when it begins. A unit that
// comes later needs the next walk: a timeline that this one has passed may have been rebuilt since,
// without the unit's hint. A failed walk is begun again after a growing pause.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::pusher {

class QuarantineWalk {
 public:
  // A unit waits for a walk from now on.
  void Need(uint64_t unit) { waiting_.push_back(unit); }
  // Whether a walk is to begin now.
  bool due(Now now) const { return timer() && *timer() <= now.mono; }
  // Begins a walk under this id. It leaves pos: alone, because positions are saved meanwhile.
  ResetRange Begin(uint64_t id, Range range, uint64_t epoch) {
    id_ = id;
    served_ = std::exchange(waiting_, {});
    return {id, range, epoch, ResetRange::Timelines::kDrop, std::nullopt};
  }
  bool under_way(uint64_t id) const { return id_ == id; }
  // Takes the answer to the walk under way. Returns the units that it served, or none if it failed.
  std::vector<uint64_t> Ended(const Status& status, const Backoff& backoff, Now now,
                              uint64_t random) {
    id_ = 0;
    attempts_ = status.done() ? 0 : attempts_ + 1;
    not_before_ = status.done() ? now.mono : now.mono + backoff.Delay(attempts_, random);
    if (status.done()) return std::exchange(served_, {});
    std::move(served_.begin(), served_.end(), std::back_inserter(waiting_));
    served_.clear();
    return {};
  }
  // When the next walk may begin, if one is needed.
  std::optional<Time> timer() const {
    return waiting_.empty() || id_ != 0 ? std::nullopt : std::optional(not_before_);
  }

 private:
  std::vector<uint64_t> waiting_;  // units, for the next walk
  std::vector<uint64_t> served_;   // units, by the walk under way
  uint64_t id_ = 0;                // of the walk under way; 0: none
  uint32_t attempts_ = 0;
  Time not_before_{};
};

}  // namespace fanline::pusher
