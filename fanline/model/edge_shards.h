// The two shards of an edge: src gives that of the forward row, dst that of the reverse row. Work
// is kept apart by this pair, so a shard that is away or hangs holds up its own edges only.
#pragma once

#include <cstddef>

#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline {

struct EdgeShards {
  ShardMap reverse = ShardMap::Even(1);
  ShardMap forward = ShardMap::Even(1);

  size_t pairs() const { return size_t{reverse.shards()} * forward.shards(); }
  // Numbers the pairs of shards from 0: all pairs of a reverse shard lie side by side.
  size_t NumberOf(Bucket src, Bucket dst) const {
    return size_t{reverse.ShardOf(dst)} * forward.shards() + forward.ShardOf(src);
  }
  size_t NumberOf(const EdgeKey& edge) const {
    return NumberOf(BucketOf(edge.src), BucketOf(edge.dst));
  }
  Shard ReverseOf(size_t number) const { return static_cast<Shard>(number / forward.shards()); }
};

}  // namespace fanline
