// What an edge's two rows and its waiting changes mean for an operator on call. Pure.
// A change writes the forward row; its row of log1 waits until the reverse row is written. So rows
// may differ while a change waits. If none waits, the operator must repair them: a follow or
// unfollow by the API gives the edge a version above the forward row's, and a mirror writes it to
// the reverse row.
#pragma once

#include <cstddef>
#include <string>

#include "fanline/model/edge.h"

namespace fanline::feedctl {

struct EdgeSeen {
  EdgeKey edge = {};
  EdgeState forward = {}, reverse = {};  // ver 0: there is no row
  bool settled = true;                   // neither row changed while it was looked at
  size_t changes_waiting = 0;            // of this edge, in log1
  bool friendship_waiting = false;       // of the two users, in log1
  bool all_seen = true;                  // false: log1 has more rows than were read

  bool agree() const { return forward == reverse && IsKnown(forward.delivery); }
};

// One sentence: the state, and what to do.
std::string Diagnosis(const EdgeSeen& seen);

}  // namespace fanline::feedctl
