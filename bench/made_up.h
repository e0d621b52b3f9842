// The posts the bench makes up. Ids grow with time, as those of most applications do: 41 bits of
// milliseconds, 22 bits that tell posts of one millisecond apart.
#pragma once

#include <cstdint>

#include "fanline/base/time.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"

namespace fanline::bench {

inline constexpr UnixMs kIdEpoch = 1'288'834'974'657;

constexpr PostId PostOf(UnixMs created_at, uint64_t which) {
  return PostId{static_cast<uint64_t>(created_at - kIdEpoch) << 22 | (which & 0x3FFFFF)};
}

// Somebody of many, with an id of four bytes.
constexpr UserId AuthorOf(uint64_t which) { return UserId{1'000'000'000 + which % 300}; }

// A spread of 64-bit numbers that is the same in every run (SplitMix64).
constexpr uint64_t Mixed(uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

}  // namespace fanline::bench
