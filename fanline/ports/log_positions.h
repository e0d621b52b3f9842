// A request: where a group stands in a log. Nothing is consumed.
#pragma once

#include <cstdint>
#include <vector>

#include "fanline/base/outcome.h"

namespace fanline {

// What another group has committed. The adapter knows the group's name.
struct ReadGroupOffsets {
  using Reply = struct GroupOffsetsRead;
  uint64_t id = 0;
  std::vector<int32_t> partitions;
};
struct GroupOffsetsRead {
  uint64_t id = 0;
  Status status;
  struct Committed {
    int32_t partition = 0;
    int64_t offset = -1;  // all below is finished; -1: it has committed nothing
  };
  std::vector<Committed> committed;
};

}  // namespace fanline
