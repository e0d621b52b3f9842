// Decides what to do about an edge whose two rows were read on primaries, first the reverse row,
// then the forward row. In that order a sound forward row is never behind the reverse row, nor
// behind what a message of relation-log says: it is committed first. Pure.
//
// The higher version wins in both directions:
// - The forward row is newer: its state goes to the reverse row, as the mirror writes it.
// - The reverse row is newer, or a message names a newer version: the forward shard lost a change
//   that it had acknowledged, and takes over the newest state that is known.
// - Both rows differ at one version: they are corrupt, and the forward row's state wins.
// - There is no forward row: the follow was acknowledged and lost, and is written again.
// - The state that wins has a number for what the follow brings that nobody knows: it is corrupt,
// and
//   is copied to no row.
//
// The forward row is changed under its lock, only if it is still as read, to a version above both
// rows. Its row of log1 then carries the change to the reverse row, so after two rounds the rows
// are the same. Rows are never removed.
#pragma once

#include <cstddef>

#include "fanline/model/edge.h"

namespace fanline::reconciler {

// What two rows were found to be, and its names in metrics and repair_log. kAhead, kOrphan, kLost:
// the forward shard lost what it had acknowledged. The reverse row shows it; for kLost a message
// does. kCorrupt: no known failure leaves such rows.
enum class Finding { kEqual, kStale, kMissing, kAhead, kOrphan, kCorrupt, kLost };
inline constexpr const char* kFindings[] = {"equal",  "stale",   "missing", "ahead",
                                            "orphan", "corrupt", "lost"};
inline const char* NameOf(Finding finding) { return kFindings[static_cast<size_t>(finding)]; }

struct Verdict {
  enum class Action {
    kHint,    // write nothing; send sync(src, dst), since no msg2 has proved that hint
    kApply,   // write `state`, the forward row's, to the reverse row; hint and msg2 follow
    kBump,    // write `state` to the forward row, which then goes the way of every change
    kReport,  // no version is left, or nobody knows the state: an operator must see to it
  };
  Finding finding = Finding::kEqual;
  Action action = Action::kHint;
  EdgeState state;
  // Set if the repair might take a follower away, rests on a reverse row alone, or is most likely
  // under way already. Such a repair is made only if a second check, a grace later, comes to the
  // same verdict, and if the breaker lets it pass.
  bool guarded = false;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// What of a claim still counts, given the horizon of the edge's forward row (tombstones.h): nothing
// if it is older. The unfollow after it may be forgotten in both rows, and then the claim would
// bring the follow back. Tombstones above the horizon by their version are never collected, so the
// claim's version decides, whatever the clocks.
constexpr EdgeClaim Believed(const EdgeClaim& claim, UnixMs horizon) {
  const auto known_from = static_cast<uint64_t>(horizon) * 1000;
  return claim.state.ver < known_from ? EdgeClaim{} : claim;
}

// `claim`: what the message says that asked for the check. A missing row has version 0.
// Two rows that agree below the claim are not equal: both lost the change.
// If the reverse row has the claimed version and the forward row is newer, the newer state is most
// likely on its way, and a second check finds the rows equal. But after an interrupted bump of an
// application's own row nobody brings that state. So such rows are not equal either.
Verdict Judge(const EdgeState& reverse, const EdgeState& forward, const EdgeClaim& claim);

}  // namespace fanline::reconciler
