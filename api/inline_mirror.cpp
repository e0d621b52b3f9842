#include "api/inline_mirror.h"

#include <algorithm>

namespace fanline::api {

void InlineMirror::After(const ForwardChanged& changed) {
  if (changed.below_zero) metrics_.CounterBelowZero();
  if (changed.edge.ver == 0) return;  // there is no row
  if (mode_ == MirrorMode::kAsync && !changed.worth_a_check()) return;
  ApplyEdges request{0, map_.ShardOf(changed.edge.dst), {changed.edge}};
  if (mode_ == MirrorMode::kAsync) return reverse_.Submit(std::move(request), *this);
  const auto reply = answers_.Ask(reverse_, std::move(request), budget_);
  if (reply) Push(*reply);
  metrics_.MirroredInline(!reply                 ? InlineResult::kLate
                          : reply->status.done() ? InlineResult::kDone
                                                 : InlineResult::kFailed);
}

void InlineMirror::Push(const EdgesApplied& reply) {
  for (uint64_t i = 0; i < reply.below_zero; ++i) metrics_.CounterBelowZero();
}

Time InlineMirror::Step(Time now) {
  if (now >= ask_mode_at_ && !mode_asked_.exchange(true)) {
    ask_mode_at_ = now + kModeEvery;
    modes_.Submit(ReadMirrorMode{++last_id_});
  }
  return std::max(ask_mode_at_, now + std::chrono::milliseconds(100));
}

void InlineMirror::Push(const MirrorModeRead& reply) {
  if (reply.status.done()) mode_ = reply.mode;
  mode_asked_ = false;
}

}  // namespace fanline::api
