// Slots of ours that are between two nodes, and how long they have been. A reshard moves one within
// seconds; one that stays so was left by somebody, and keeps its range waiting until an operator
// ends it. Passive, not thread-safe.
#pragma once

#include <map>
#include <vector>

#include "backends/redis/cluster/slot_map.h"
#include "fanline/base/time.h"

namespace fanline::redis {

class MigrationWatch {
 public:
  explicit MigrationWatch(Duration left_after) : left_after_(left_after) {}

  // `open` are all there are now. Answers those that have been open for too long since this look;
  // each is named once.
  std::vector<OpenSlot> Look(const std::vector<OpenSlot>& open, Time now);
  size_t left() const;  // open for too long, as of the last look

 private:
  struct Seen {
    Time since{};
    bool left = false;
  };
  Duration left_after_;
  std::map<Slot, Seen> seen_;
};

}  // namespace fanline::redis
