// Request: does a shard answer?
#pragma once

#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline {

struct PingShard {
  using Reply = struct ShardPinged;
  uint64_t id = 0;
  Shard shard = 0;
};
struct ShardPinged {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
};

}  // namespace fanline
