// What an edge's two rows and its waiting changes mean for a person on call. Pure.
//
// A change is written forward, then its row of log1 waits until the reverse row is written. So rows
// that differ while a change waits are sound. When none waits, somebody must mend them: a change by
// `follow` or `unfollow` gives the edge a version above the forward row's, and a mirror writes it
// to the reverse row.
#pragma once

#include <cstddef>
#include <string>

#include "fanline/model/edge.h"

namespace fanline::feedctl {

struct EdgeSeen {
  EdgeKey edge = {};
  EdgeState forward = {}, reverse = {};  // ver 0: there is no row
  bool settled = true;                   // neither row changed while it was looked at
  size_t changes_waiting = 0;            // in log1, of this edge
  bool friendship_waiting = false;       // in log1, of the two users
  bool all_seen = true;                  // false: more waits in log1 than was looked at

  bool agree() const { return forward == reverse; }
};

// One sentence: how it is, and what to do.
std::string Diagnosis(const EdgeSeen& seen);

}  // namespace fanline::feedctl
