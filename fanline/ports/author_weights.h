// Request: stores the pusher's estimate of what a post of an author costs. One request writes one
// row; the last one wins. A lost one costs nothing: the author's next posts are weighed again.
#pragma once

#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline {

struct WeighAuthor {
  using Reply = Acknowledged<WeighAuthor>;
  uint64_t id = 0;
  Shard shard = 0;  // of the author
  UserId author{};
  uint64_t live = 0;  // followers with a live timeline in all ranges
  Duration lag{};     // from publish to delivery
};
using AuthorWeighed = WeighAuthor::Reply;

}  // namespace fanline
