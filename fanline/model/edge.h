// One edge src -> dst: src follows dst. It has two rows, in `following` (by src, the truth) and in
// `follower` (by dst), with the same version, state, position and choice of what the follow brings
// (schemas/sql/shard.sql).
//
// A change takes the forward row's lock and gives out the next version, so versions grow per edge.
// Between two states of one edge the higher version wins; equal versions are the same state. A
// tombstone (not live) is a state like any other, whose choice is kAll; only version 0 says that
// there is no row.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "fanline/base/time.h"
#include "fanline/model/delivery.h"
#include "fanline/model/ids.h"

namespace fanline {

struct EdgeKey {
  UserId src{};
  UserId dst{};
  friend auto operator<=>(const EdgeKey&, const EdgeKey&) = default;
};

// One row without its key.
struct EdgeState {
  uint64_t ver = 0;  // 0: there is no row
  bool live = false;
  UnixMs pos = 0;  // when src last became a follower of dst
  Delivery delivery = Delivery::kAll;

  // Whether posts of dst belong in the timeline of src.
  bool brings() const { return live && delivery != Delivery::kNone; }
  friend bool operator==(const EdgeState&, const EdgeState&) = default;
};

// What a message says of an edge: it had this state. Its row may hold a later one.
struct EdgeClaim {
  EdgeState state;     // ver 0: nothing is said
  bool whole = false;  // false: only the version is said
  // The change's row of log1 on the shard of src. 0: none is known.
  uint64_t log_id = 0;
  friend bool operator==(const EdgeClaim&, const EdgeClaim&) = default;
};

// Whether `claim` says all of an edge that `other` says, and more.
constexpr bool StandsFor(const EdgeClaim& claim, const EdgeClaim& other) {
  if (claim.state.ver != other.state.ver) return claim.state.ver > other.state.ver;
  return claim.whole && !other.whole;
}

// One row.
struct Edge {
  UserId src{};
  UserId dst{};
  uint64_t ver = 0;  // 0: there is no row
  bool live = false;
  UnixMs pos = 0;  // when src last became a follower of dst
  Delivery delivery = Delivery::kAll;

  EdgeKey key() const { return {src, dst}; }
  EdgeState state() const { return {ver, live, pos, delivery}; }
  friend bool operator==(const Edge&, const Edge&) = default;
};

constexpr Edge EdgeOf(const EdgeKey& key, const EdgeState& state) {
  return {key.src, key.dst, state.ver, state.live, state.pos, state.delivery};
}

// Whether `state` replaces `row`. Equal versions are a repetition and replace nothing.
constexpr bool Wins(const EdgeState& state, const EdgeState& row) { return state.ver > row.ver; }

// The change of the counter of live edges when `after` replaces `before`.
constexpr int Transition(const EdgeState& before, const EdgeState& after) {
  return (after.live ? 1 : 0) - (before.live ? 1 : 0);
}

}  // namespace fanline

template <>
struct std::hash<fanline::EdgeKey> {
  // Ids are often small and in sequence, so both are spread over all bits. The odd constants are
  // from the golden ratio and from MurmurHash3's finalizer.
  size_t operator()(const fanline::EdgeKey& key) const noexcept {
    uint64_t bits = Raw(key.src) * 0x9E3779B97F4A7C15u ^ Raw(key.dst);
    bits = (bits ^ (bits >> 32)) * 0xFF51AFD7ED558CCDu;
    return bits ^ (bits >> 33);
  }
};
