// Changes forward edges, and writes reverse rows inline as the mirror's mode says. In mode `sync` a
// change is answered when its reverse row is written, or after `budget`. A failure or a late write
// is harmless: the row of log1 stays pending for the mirror. In mode `async` a reverse row is
// written only if the change was already in place, which may be the repetition of an interrupted
// change; the answer does not wait for it.
//
// The mode is the installation's (fanline/ports/operator_modes.h) and is read once a second; a
// shard that does not answer leaves it as it was.
//
// Submit and the replies: any thread. Step: one thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "api/metrics.h"
#include "api/operations/call.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/operator_modes.h"
#include "fanline/ports/port.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline::api {

class InlineMirror final : public Serves<ChangeEdge> {
 public:
  static constexpr Duration kModeEvery = std::chrono::seconds(1);
  static constexpr Duration kModeWait = std::chrono::milliseconds(500);  // for a shard's worker
  static constexpr Duration kBudget = std::chrono::milliseconds(50);

  struct Servers {
    Serves<ChangeEdge>& forward;
    Serves<ApplyEdges>& reverse;
    Serves<ReadMirrorMode>& modes;
  };

  // The servers reply to it, so it outlives them, and `map` and `metrics` outlive it.
  InlineMirror(Servers servers, const ShardMap& map, Metrics& metrics, std::function<Time()> clock,
               Duration budget = kBudget)
      : forward_(servers.forward, *this),
        reverse_(servers.reverse, *this),
        modes_(servers.modes, *this),
        map_(map),
        metrics_(metrics),
        clock_(std::move(clock)),
        budget_(budget) {}

  void Submit(ChangeEdge request, ReplyTo<EdgeChanged> to) override {
    SubmitInTurn(request, to, {});
  }
  void SubmitInTurn(ChangeEdge request, ReplyTo<EdgeChanged> to, Turn turn) override {
    {
      const std::lock_guard lock(mutex_);
      open_.try_emplace(++last_id_, Change{.id = request.id, .to = to});
      request.id = last_id_;
    }
    forward_.Submit(request, std::move(turn));
  }

  // Answers changes whose budget is used up, and asks for the mode when it is due. Returns when to
  // call it again.
  Time Step(Time now) {
    AnswerTheLate(now);
    if (now >= ask_mode_at_ && !mode_asked_.exchange(true)) {
      ask_mode_at_ = now + kModeEvery;
      modes_.Submit(ReadMirrorMode{},
                    {.work_class = static_cast<size_t>(Work::kLookups), .until = now + kModeWait});
    }
    if (mode_ == MirrorMode::kSync) return now + kTick;
    return std::max(ask_mode_at_, now + std::chrono::milliseconds(100));
  }

  // The replies.
  void Push(EdgeChanged reply) {
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
  void Push(const EdgesApplied& reply) {
    for (uint64_t i = 0; i < reply.below_zero; ++i) metrics_.CounterBelowZero();
    auto change = Take(reply.id);
    if (!change) return;  // nobody waited, or not any more
    metrics_.MirroredInline(reply.status.done() ? InlineResult::kDone : InlineResult::kFailed);
    Answer(*std::move(change));
  }
  void Push(const MirrorModeRead& reply) {
    if (reply.status.done()) mode_ = reply.mode;
    mode_asked_ = false;
  }

 private:
  static constexpr Duration kTick = std::chrono::milliseconds(10);

  struct Change {
    uint64_t id = 0;  // the asker's
    ReplyTo<EdgeChanged> to = {};
    EdgeChanged reply = {};
    Time until = Time::max();  // it waits for its reverse row
  };

  // Nothing: it was answered.
  std::optional<Change> Take(uint64_t id) {
    const std::lock_guard lock(mutex_);
    auto found = open_.extract(id);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
  }
  static void Answer(Change change) {
    change.reply.id = change.id;
    change.to(std::move(change.reply));
  }
  void AnswerTheLate(Time now) {
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
  void ReverseRow(uint64_t id, const Edge& edge) {
    reverse_.Submit(ApplyEdges{id, map_.ShardOf(edge.dst), {edge}});
  }

  const Port<ChangeEdge> forward_;
  const Port<ApplyEdges> reverse_;
  const Port<ReadMirrorMode> modes_;
  const ShardMap& map_;
  Metrics& metrics_;
  const std::function<Time()> clock_;
  const Duration budget_;

  std::atomic<MirrorMode> mode_ = MirrorMode::kAsync;
  std::atomic<bool> mode_asked_ = false;
  Time ask_mode_at_{};

  std::mutex mutex_;
  std::map<uint64_t, Change> open_;  // under mutex_
  uint64_t last_id_ = 0;             // under mutex_
};

}  // namespace fanline::api
