#include "api/inline_mirror.h"

#include <algorithm>

namespace fanline::api {

void InlineMirror::After(const ForwardChanged& changed) {
  if (changed.below_zero) metrics_.CounterBelowZero();
  if (changed.edge.ver == 0) return;  // there is no row
  if (mode_ == MirrorMode::kSync) {
    ApplyAndWait(changed.edge);
  } else if (changed.worth_a_check()) {
    reverse_.Submit(ApplyEdges{++last_id_, map_.ShardOf(changed.edge.dst), {changed.edge}});
  }
}

// An answer may come from within Submit, or after nobody waits for it any more.
void InlineMirror::ApplyAndWait(const Edge& edge) {
  const uint64_t id = ++last_id_;
  {
    const std::lock_guard lock(mutex_);
    awaited_.insert(id);
  }
  reverse_.Submit(ApplyEdges{id, map_.ShardOf(edge.dst), {edge}});
  std::unique_lock lock(mutex_);
  const bool in_time = answered_.wait_for(lock, budget_, [&] { return !awaited_.contains(id); });
  awaited_.erase(id);
  lock.unlock();
  if (!in_time) metrics_.MirroredInline(InlineResult::kLate);
}

void InlineMirror::Push(const EdgesApplied& reply) {
  for (uint64_t i = 0; i < reply.below_zero; ++i) metrics_.CounterBelowZero();
  const std::lock_guard lock(mutex_);
  if (awaited_.erase(reply.id) == 0) return;
  metrics_.MirroredInline(reply.status.done() ? InlineResult::kDone : InlineResult::kFailed);
  answered_.notify_all();
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
