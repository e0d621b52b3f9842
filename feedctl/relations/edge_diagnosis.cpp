#include "feedctl/relations/edge_diagnosis.h"

namespace fanline::feedctl {
namespace {

// Of the API.
std::string Change(const EdgeSeen& seen, bool live) {
  return std::string(live ? "PUT" : "DELETE") + " /v1/users/" + ToString(seen.edge.src) +
         "/following/" + ToString(seen.edge.dst);
}

// The requests that give the edge a new version with the state `wanted`, which a mirror then writes
// to the reverse row. A change to the present state gives no new version, so it takes two. A new
// follow brings all until something else is chosen.
std::string Anew(const EdgeSeen& seen, const EdgeState& wanted) {
  std::string changes = Change(seen, wanted.live);
  if (seen.forward.live == wanted.live) {
    changes = Change(seen, !wanted.live) + " and then " + changes;
  }
  if (wanted.delivery != Delivery::kAll && IsKnown(wanted.delivery)) {
    changes += std::string(" and then PATCH there with {\"delivery\":\"") +
               NameOf(wanted.delivery) + "\"}";
  }
  return changes;
}

std::string OfEqualRows(const EdgeSeen& seen) {
  if (seen.friendship_waiting) {
    return "both rows agree, and what became of the friendship waits for a running "
           "fanline-mirror, which writes both edges";
  }
  if (seen.forward.ver == 0) return "there is no row on either side: nobody ever followed";
  return "both rows agree";
}

// No change waits, so no mirror will repair the rows by itself.
std::string OfBrokenRows(const EdgeSeen& seen) {
  const bool odd = !IsKnown(seen.forward.delivery);
  // A newer reverse row wins, whatever the forward row brings.
  if (seen.forward.live && odd && seen.forward.ver >= seen.reverse.ver) {
    return "what the follow brings is a number that this version does not know, so nobody copies "
           "it; PATCH /v1/users/" +
           ToString(seen.edge.src) + "/following/" + ToString(seen.edge.dst) +
           " with {\"delivery\":\"all\"}, or another choice, rewrites both rows";
  }
  if (seen.forward == seen.reverse) {
    return "both rows are ended and bring " +
           std::to_string(static_cast<int>(seen.forward.delivery)) +
           ", a number that this version does not know, so nobody copies it; " +
           Anew(seen, seen.forward) + " rewrites both";
  }
  if (seen.forward.ver > seen.reverse.ver) {
    return "the reverse row is behind and no change of it waits, so it got lost; " +
           Anew(seen, seen.forward) + " makes a running fanline-mirror write it again";
  }
  if (seen.forward.ver == seen.reverse.ver) {
    return "the rows differ at one version, so one was written by hand or is damaged; if the "
           "forward row is right, " +
           Anew(seen, seen.forward) + " rewrites both";
  }
  return "the forward row is behind the reverse row, so its shard lost what it had acknowledged; "
         "if the reverse row is right, " +
         Anew(seen, seen.reverse) + " rewrites both";
}

}  // namespace

std::string Diagnosis(const EdgeSeen& seen) {
  if (seen.agree()) return OfEqualRows(seen);
  if (!seen.settled) return "the edge is being changed at this moment; look again";
  if (seen.changes_waiting > 0) {
    return "a change of it waits in log1 for a running fanline-mirror, which writes the reverse "
           "row; /readyz of the mirror says what it waits for";
  }
  if (!seen.all_seen) {
    return "more changes wait in log1 than were looked at, and one of this edge may be among them; "
           "look again when fanline-mirror has applied them";
  }
  return OfBrokenRows(seen);
}

}  // namespace fanline::feedctl
