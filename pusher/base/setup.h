// What the two halves of a pusher, ranges and units, have in common.
#pragma once

#include <cstdint>

#include "fanline/base/mutation_switches.h"
#include "fanline/model/bucket.h"

namespace fanline::pusher {

struct Setup {
  RangeLayout layout{16};
  uint64_t topic_generation = 1;
  uint64_t seed = 1;  // of the jitter and of the starts' tokens; differs in each process
  MutationSwitches guards{};
  ShardMap shards = ShardMap::Even(1);
  bool own_posts = false;  // home timelines hold the reader's own posts
};

}  // namespace fanline::pusher
