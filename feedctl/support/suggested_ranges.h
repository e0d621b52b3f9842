// How many ranges an installation should have (feedctl init --ranges auto).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "fanline/model/bucket.h"

namespace fanline::feedctl {

inline constexpr uint32_t kLeastSuggested = 16;
// With this many ranges per Redis master, the masters' loads differ by an eighth at most.
inline constexpr uint32_t kRangesPerMaster = 8;
// Keeps the index of a range's live readers, one key, small enough to be moved to another node.
inline constexpr uint64_t kLiveReadersPerRange = 250'000;

// A power of two, so that it divides the buckets. `live_readers`: how many are expected to have a
// timeline at the same time; 0: few.
inline uint32_t SuggestedRanges(uint32_t masters, uint64_t live_readers) {
  const uint64_t for_readers =
      live_readers / kLiveReadersPerRange + (live_readers % kLiveReadersPerRange > 0 ? 1 : 0);
  const uint64_t most =
      std::max({uint64_t{kLeastSuggested}, uint64_t{kRangesPerMaster} * masters, for_readers});
  return static_cast<uint32_t>(std::bit_ceil(std::min<uint64_t>(most, kBuckets)));
}

}  // namespace fanline::feedctl
