// The edges the bench makes up: distinct for distinct numbers below 2^36, the same in every run.
// 20 in a row have one author, and authors are spread over all ids. Followers are 5,000 users drawn
// at random, so that each follows many and two threads seldom meet at one.
#pragma once

#include <cstdint>

#include "bench/made_up.h"
#include "fanline/model/edge.h"

namespace fanline::bench {

inline constexpr uint64_t kFollowers = 5'000;
inline constexpr uint64_t kFollowersEach = 20;

constexpr EdgeKey MadeEdge(uint64_t number) {
  constexpr uint64_t kFirstFollower = 1'000'000'000, kFirstAuthor = 20'000'000'000;
  constexpr uint64_t kStep = 241;  // 20 of them fit, so the 20 are distinct
  const uint64_t block = number / kFollowersEach;
  const uint64_t follower = (Mixed(block) + number % kFollowersEach * kStep) % kFollowers;
  const auto author = static_cast<uint32_t>(block * 2'654'435'761u);  // odd: each another
  return {UserId{kFirstFollower + follower}, UserId{kFirstAuthor + author}};
}

// The edge's row as a follow makes it. Versions are microseconds, as those of the store are.
constexpr Edge MadeRow(uint64_t number) {
  constexpr UnixMs kAt = 1'700'000'000'000;
  const UnixMs pos = kAt + static_cast<UnixMs>(number);
  return EdgeOf(MadeEdge(number), {static_cast<uint64_t>(pos) * 1'000, true, pos});
}

}  // namespace fanline::bench
