#include "api/inline_mirror.h"

#include <algorithm>
#include <vector>

#include "api/operations/call.h"

namespace fanline::api {

void InlineMirror::SubmitInTurn(ChangeEdge request, ReplyTo<EdgeChanged> to, Turn turn) {
  {
    const std::lock_guard lock(mutex_);
    open_.try_emplace(++last_id_, Change{.id = request.id, .to = to});
    request.id = last_id_;
  }
  forward_.Submit(request, std::move(turn));
}

void InlineMirror::Push(EdgeChanged reply) {
  const ForwardChanged changed = reply.forward;
  if (changed.below_zero) metrics_.CounterBelowZero();
  const bool has_row = reply.status.done() && changed.edge.ver > 0;
  const bool waits = has_row && mode_ == MirrorMode::kSync;
  const uint64_t id = reply.id;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    found->second.reply = std::move(reply);
    if (waits) found->second.until = clock_() + budget_;
  }
  if (!waits) {
    if (auto change = Take(id)) Answer(*std::move(change));
  }
  if (waits || (has_row && changed.worth_a_check())) ReverseRow(id, changed.edge);
}

void InlineMirror::ReverseRow(uint64_t id, const Edge& edge) {
  reverse_.Submit(ApplyEdges{id, map_.ShardOf(edge.dst), {edge}});
}

void InlineMirror::Push(const EdgesApplied& reply) {
  for (uint64_t i = 0; i < reply.below_zero; ++i) metrics_.CounterBelowZero();
  auto change = Take(reply.id);
  if (!change) return;  // nobody waited, or not any more
  metrics_.MirroredInline(reply.status.done() ? InlineResult::kDone : InlineResult::kFailed);
  Answer(*std::move(change));
}

std::optional<InlineMirror::Change> InlineMirror::Take(uint64_t id) {
  const std::lock_guard lock(mutex_);
  auto found = open_.extract(id);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

void InlineMirror::Answer(Change change) {
  change.reply.id = change.id;
  change.to(std::move(change.reply));
}

void InlineMirror::AnswerTheLate(Time now) {
  std::vector<uint64_t> late;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, change] : open_) {
      if (change.until <= now) late.push_back(id);
    }
  }
  for (const uint64_t id : late) {
    auto change = Take(id);
    if (!change) continue;
    metrics_.MirroredInline(InlineResult::kLate);
    Answer(*std::move(change));
  }
}

Time InlineMirror::Step(Time now) {
  AnswerTheLate(now);
  if (now >= ask_mode_at_ && !mode_asked_.exchange(true)) {
    ask_mode_at_ = now + kModeEvery;
    modes_.Submit(ReadMirrorMode{},
                  {.work_class = static_cast<size_t>(Work::kLookups), .until = now + kModeWait});
  }
  if (mode_ == MirrorMode::kSync) return now + kTick;
  return std::max(ask_mode_at_, now + std::chrono::milliseconds(100));
}

void InlineMirror::Push(const MirrorModeRead& reply) {
  if (reply.status.done()) mode_ = reply.mode;
  mode_asked_ = false;
}

}  // namespace fanline::api
