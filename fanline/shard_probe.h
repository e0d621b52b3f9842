// Port: asks a shard whether it answers. Exactly one reply per request; may come from within
// Submit.
#pragma once

#include <cstdint>

#include "fanline/bucket.h"
#include "fanline/outcome.h"

namespace fanline {

struct PingShard {
  uint64_t id = 0;
  Shard shard = 0;
};
struct ShardPinged {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
};

class ShardProbe {
 public:
  virtual ~ShardProbe() = default;
  virtual void Submit(PingShard request) = 0;
};

}  // namespace fanline
