// Request: the pusher's estimate of what a post of an author costs. One request = one row written,
// the last one holds. It decides nothing about any post, so one that gets lost costs nothing: the
// author's next posts are weighed.
#pragma once

#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline {

struct WeighAuthor {
  using Reply = struct AuthorWeighed;
  uint64_t id = 0;
  Shard shard = 0;  // of the author
  UserId author{};
  uint64_t live = 0;  // followers with a live timeline, of all ranges
  Duration lag{};     // from publish to delivery
};
struct AuthorWeighed {
  uint64_t id = 0;
  Status status;
};

}  // namespace fanline
