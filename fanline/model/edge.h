// One edge src -> dst: src follows dst. Its row stands twice, as `following` (by src, the truth)
// and as `follower` (by dst), with the same version, state and position (schemas/sql/shard.sql).
//
// The forward row's lock alone gives out versions, growing per edge, so of two states of one edge
// the higher version wins and equal versions are the same state. A tombstone (not live) is a state
// like any other; only version 0 says that there is no row.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "fanline/base/time.h"
#include "fanline/model/ids.h"

namespace fanline {

struct EdgeKey {
  UserId src{};
  UserId dst{};
  friend auto operator<=>(const EdgeKey&, const EdgeKey&) = default;
};

// What an edge is apart from whose it is.
struct EdgeState {
  uint64_t ver = 0;  // 0: there is no row
  bool live = false;
  UnixMs pos = 0;  // when src last became a follower of dst
  friend bool operator==(const EdgeState&, const EdgeState&) = default;
};

// One row.
struct Edge {
  UserId src{};
  UserId dst{};
  uint64_t ver = 0;  // 0: there is no row
  bool live = false;
  UnixMs pos = 0;  // when src last became a follower of dst

  EdgeKey key() const { return {src, dst}; }
  EdgeState state() const { return {ver, live, pos}; }
  friend bool operator==(const Edge&, const Edge&) = default;
};

constexpr Edge EdgeOf(const EdgeKey& key, const EdgeState& state) {
  return {key.src, key.dst, state.ver, state.live, state.pos};
}

// Whether `state` takes the place of `row`. At equal versions it does not: a repetition.
constexpr bool Wins(const EdgeState& state, const EdgeState& row) { return state.ver > row.ver; }

// What the counter of live edges changes by when `after` takes the place of `before`.
constexpr int Transition(const EdgeState& before, const EdgeState& after) {
  return (after.live ? 1 : 0) - (before.live ? 1 : 0);
}

}  // namespace fanline

template <>
struct std::hash<fanline::EdgeKey> {
  // Ids are often small and in sequence: both are spread over all bits (the constants are odd, from
  // the golden ratio and from MurmurHash3's finalizer).
  size_t operator()(const fanline::EdgeKey& key) const noexcept {
    uint64_t bits = Raw(key.src) * 0x9E3779B97F4A7C15u ^ Raw(key.dst);
    bits = (bits ^ (bits >> 32)) * 0xFF51AFD7ED558CCDu;
    return bits ^ (bits >> 33);
  }
};
