#include "reconciler/verdict.h"

namespace fanline::reconciler {
namespace {

using Action = Verdict::Action;

Verdict Bump(Finding finding, uint64_t above, const EdgeState& state, bool guarded) {
  if (above == UINT64_MAX) return {finding, Action::kReport, {}, guarded};
  return {finding, Action::kBump, {above + 1, state.live, state.pos}, guarded};
}

Verdict JudgeOrphan(const EdgeState& reverse, OrphanPolicy policy) {
  EdgeState state = reverse;
  state.live = reverse.live && policy == OrphanPolicy::kAdopt;
  return Bump(Finding::kOrphan, reverse.ver, state, true);
}

}  // namespace

Verdict Judge(const EdgeState& reverse, const EdgeState& forward, std::optional<uint64_t> pending,
              OrphanPolicy policy) {
  if (forward == reverse) return {};
  if (forward.ver == 0) return JudgeOrphan(reverse, policy);
  if (reverse.ver > forward.ver) {
    return Bump(Finding::kAhead, reverse.ver, reverse, forward.live && !reverse.live);
  }
  const bool removes = reverse.live && !forward.live;
  if (reverse.ver == forward.ver) return Bump(Finding::kCorrupt, forward.ver, forward, removes);
  const bool overtaken = pending && reverse.ver >= *pending;
  const Finding finding = reverse.ver == 0 ? Finding::kMissing : Finding::kStale;
  return {finding, Action::kApply, forward, removes || overtaken};
}

}  // namespace fanline::reconciler
