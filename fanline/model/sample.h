// Which posts the home timeline of a sampled reader holds: of those of others one in `one_in`
// (docs/decisions/0031-sampled-readers.md). Nothing is drawn: every place that asks, at whatever
// time, is told the same. Samples are nested: what one in 8 holds, one in 4 holds too.
//
// The same rule stands in schemas/redis/timeline.lua and in ItemsSql of
// backends/mysql/sql/statements.h.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "fanline/base/sha1.h"
#include "fanline/model/ids.h"

namespace fanline {

// A sync of a followed author reads at most this many times the window, in one statement.
inline constexpr uint32_t kMostOneIn = 1 << 10;

inline bool IsOneIn(uint32_t one_in) {
  return one_in > 0 && one_in <= kMostOneIn && std::has_single_bit(one_in);
}

// The sample of a reader who follows so many authors, where timelines are to hold about the posts
// of `limit`: as it is `now` while there is room, so that nobody goes to and fro at a limit.
inline uint32_t OneInFor(uint64_t follows, uint64_t limit, uint32_t now) {
  uint32_t one_in = now;
  while (one_in < kMostOneIn && follows > limit * one_in) one_in *= 2;
  while (one_in > 1 && 4 * follows <= limit * one_in) one_in /= 2;
  return one_in;
}

struct Sample {
  UserId reader{};
  uint32_t one_in = 1;  // a power of two; 1: every post

  bool whole() const { return one_in <= 1; }

  // A reader's own posts are never left out.
  bool Wants(UserId author, PostId post) const { return author == reader || WantsOfOthers(post); }
  bool WantsOfOthers(PostId post) const {
    return whole() || FirstWordOfSha1(ToString(post) + ':' + ToString(reader)) % one_in == 0;
  }
  friend bool operator==(const Sample&, const Sample&) = default;
};

}  // namespace fanline
