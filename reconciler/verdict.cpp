#include "reconciler/verdict.h"

namespace fanline::reconciler {
namespace {

using Action = Verdict::Action;

Verdict Bump(Finding finding, uint64_t above, const EdgeState& state, bool guarded) {
  if (above == UINT64_MAX) return {finding, Action::kReport, {}, guarded};
  return {finding, Action::kBump, {above + 1, state.live, state.pos, state.delivery}, guarded};
}

// A msg1 says what the forward shard itself has committed: no missing row makes that doubtful.
Verdict JudgeLost(const EdgeState& reverse, const EdgeState& forward, const EdgeClaim& claim) {
  const EdgeState& claimed = claim.state;
  const bool by_reverse = claim.whole ? Wins(reverse, claimed) : reverse.ver >= claimed.ver;
  if (!by_reverse && !claim.whole) return {Finding::kLost, Action::kReport, {}, false};
  const EdgeState& state = by_reverse ? reverse : claimed;
  const bool removes = (forward.live || reverse.live) && !state.live;
  // Only the reverse row speaks for what is above a msg2, as for an orphan.
  return Bump(Finding::kLost, state.ver, state, removes || (!claim.whole && forward.ver == 0));
}

Verdict JudgeVersions(const EdgeState& reverse, const EdgeState& forward, const EdgeClaim& claim) {
  if (forward.ver < claim.state.ver) return JudgeLost(reverse, forward, claim);
  if (forward == reverse) return {};
  if (forward.ver == 0) return Bump(Finding::kOrphan, reverse.ver, reverse, reverse.live);
  if (reverse.ver > forward.ver) {
    return Bump(Finding::kAhead, reverse.ver, reverse, forward.live && !reverse.live);
  }
  const bool removes = reverse.live && !forward.live;
  if (reverse.ver == forward.ver) return Bump(Finding::kCorrupt, forward.ver, forward, removes);
  const bool overtaken = claim.state.ver > 0 && reverse.ver >= claim.state.ver;
  const Finding finding = reverse.ver == 0 ? Finding::kMissing : Finding::kStale;
  return {finding, Action::kApply, forward, removes || overtaken};
}

}  // namespace

Verdict Judge(const EdgeState& reverse, const EdgeState& forward, const EdgeClaim& claim) {
  const Verdict verdict = JudgeVersions(reverse, forward, claim);
  const EdgeState& wins = verdict.action == Action::kHint ? forward : verdict.state;
  if (IsKnown(wins.delivery)) return verdict;
  return {Finding::kCorrupt, Action::kReport, {}, verdict.guarded};
}

}  // namespace fanline::reconciler
