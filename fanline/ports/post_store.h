// Request: the dispatcher's writes of truth, rows of `author_post`. One request = one transaction
// on one shard; either all of it is committed or none. Idempotent: the rule is ApplyEvent in
// post_state.h. The author's last_at grows in the same transaction (published events only).
#pragma once

#include <cstdint>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/event.h"

namespace fanline {

struct ApplyEvents {
  using Reply = struct EventsApplied;
  uint64_t id = 0;
  Shard shard = 0;
  std::vector<FeedEvent> events;  // any order, any mix of authors of that shard
};
struct EventsApplied {
  uint64_t id = 0;
  Status status;  // kNever: one of the events cannot be stored; the caller finds it by halving
  struct Applied {
    bool pushed = true;      // read back. true: to be fanned out, false: merged at read
    uint64_t followers = 0;  // the author's counter row
  };
  std::vector<Applied> applied;  // one per event, in the request's order
};

}  // namespace fanline
