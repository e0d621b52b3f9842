// The two forward changes that a changed friendship causes, each with the pair's version. Both
// carry the time of the agreement, not of the write, so both edges get the same place in the lists.
#pragma once

#include <array>
#include <utility>

#include "fanline/ports/change_log.h"
#include "fanline/ports/forward_edges.h"

namespace fanline {

inline std::array<EdgeChange, 2> EdgesOfFriendship(const LoggedChange& change) {
  const Edge& pair = change.edge;
  EdgeChange one{.src = pair.src,
                 .dst = pair.dst,
                 .live = pair.live,
                 .unix_us = static_cast<uint64_t>(pair.pos) * 1000,
                 .origin = Origin::kFriendship,
                 .origin_version = pair.ver};
  EdgeChange other = one;
  std::swap(other.src, other.dst);
  return {one, other};
}

}  // namespace fanline
