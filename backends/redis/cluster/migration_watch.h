// Which of our slots are between two nodes, and since when. A reshard moves a slot within seconds.
// A slot that takes longer was abandoned, and its range waits until an operator finishes the move.
// Passive, not thread-safe.
#pragma once

#include <map>
#include <vector>

#include "backends/redis/cluster/slot_map.h"
#include "fanline/base/time.h"

namespace fanline::redis {

class MigrationWatch {
 public:
  explicit MigrationWatch(Duration left_after) : left_after_(left_after) {}

  // `open`: all open slots now. Returns those that have just become open for too long, each once.
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
