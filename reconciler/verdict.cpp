#include "reconciler/verdict.h"

namespace fanline::reconciler {
namespace {

using Action = Verdict::Action;

Verdict Bump(Finding finding, uint64_t above, const EdgeState& state, bool guarded) {
  if (above == UINT64_MAX) return {finding, Action::kReport, {}, guarded};
  return {finding, Action::kBump, {above + 1, state.live, state.pos}, guarded};
}

}  // namespace

Verdict Judge(const EdgeState& reverse, const EdgeState& forward, std::optional<uint64_t> pending) {
  if (forward == reverse) return {};
  if (forward.ver == 0) return Bump(Finding::kOrphan, reverse.ver, reverse, true);
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
