// What Redis holds of each range, for an operator: its node, its owner, how far its hints are
// applied, how many readers have a timeline. Only reads. Blocking; one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/redis/client/options.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

struct RangeState {
  Range range = 0;
  uint32_t slot = 0;                        // its keys' slot in a Cluster
  Status status;                            // not done: what follows is unknown
  std::string master;                       // host:port; empty: nobody serves the slot
  uint64_t owner = 0;                       // the epoch of own:; 0: nobody claimed the range
  std::optional<AppliedPosition> position;  // pos:; also none for another number of ranges
  uint64_t readers = 0;                     // in live:, including those whose timeline has expired
  bool index_complete = false;
};

// Every range, in order. Not done: no node of Redis could be asked.
Status ReadRangeStates(const Options& options, std::vector<RangeState>* out);

}  // namespace fanline::redis
