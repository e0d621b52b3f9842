// What to do about an edge whose two rows were read, reverse row first, then forward row, both on
// primaries. In that order a sound forward row is never behind: it is committed first. Pure.
//
// The higher version wins in both directions. Forward newer: it is applied to the reverse row, as
// the mirror does. Reverse newer: the forward shard lost what it had acknowledged, and takes the
// reverse row's state over. Both at one version but different: corruption, and forward's state
// wins. No forward row: the follow was acknowledged and lost, and is written again. The forward row
// changes only under its lock, if it is still what was read, to a version above both rows; its log
// row then carries it to the reverse one, so that after two rounds the rows are the same. Rows are
// never removed.
#pragma once

#include <cstdint>
#include <optional>

#include "fanline/model/edge.h"

namespace fanline::reconciler {

// The labels of fanline_rel_checks_total. kCorrupt: no failure we know of leaves such rows behind.
enum class Finding { kEqual, kStale, kMissing, kAhead, kOrphan, kCorrupt };

struct Verdict {
  enum class Action {
    kHint,    // nothing to write; sync(src, dst) goes out, as no msg2 has proved that it did
    kApply,   // `state`, the forward row, to the reverse row, its hint and msg2 following
    kBump,    // `state` to the forward row, which then goes the way of every change
    kReport,  // no version is left above these rows: somebody must see to it
  };
  Finding finding = Finding::kEqual;
  Action action = Action::kHint;
  EdgeState state;
  // Might take a follower away, rests on a forward row that is not there, or is most likely being
  // done: only after a second check, a grace later, comes to the same, and if the breaker lets it
  // pass.
  bool guarded = false;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// `pending`: the version of the msg1 that asks, none when a scan does. A row that is not there has
// version 0. Where the reverse row has the pending version and forward is newer, the newer one is
// most likely on its way, and a second check finds the rows equal. It may also have nobody who
// brings it: a bump of an application's own row that was interrupted. So only equal rows are equal.
Verdict Judge(const EdgeState& reverse, const EdgeState& forward, std::optional<uint64_t> pending);

}  // namespace fanline::reconciler
