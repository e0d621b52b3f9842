// The relation-log of a healthy installation: the msg1 of every edge, and its msg2 about a thousand
// edges later, by hundreds in the reverse order, as several appliers leave them.
#pragma once

#include <cstdint>

#include "bench/made_edges.h"
#include "fanline/wire/relation_log.h"

namespace fanline::bench {

inline constexpr uint64_t kPairBlock = 100;

// Calls each(message) for the messages of so many edges, a multiple of kPairBlock.
template <class Each>
void ForEachPairMessage(uint64_t edges, Each each) {
  constexpr uint64_t kLag = 1'000;
  for (uint64_t i = 0; i < edges + kLag; ++i) {
    if (i < edges) each(RelationMessage(EdgeWritten{MadeRow(i), i + 1}));
    if (i < kLag) continue;
    const uint64_t turn = i - kLag;
    const Edge row = MadeRow(turn - turn % kPairBlock + kPairBlock - 1 - turn % kPairBlock);
    each(RelationMessage(EdgeMirrored{row.key(), row.ver}));
  }
}

}  // namespace fanline::bench
