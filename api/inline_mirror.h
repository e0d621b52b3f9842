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

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "api/metrics.h"
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
  void SubmitInTurn(ChangeEdge request, ReplyTo<EdgeChanged> to, Turn turn) override;

  // Answers changes whose budget is used up, and asks for the mode when it is due. Returns when to
  // call it again.
  Time Step(Time now);

  // The replies.
  void Push(EdgeChanged reply);
  void Push(const EdgesApplied& reply);
  void Push(const MirrorModeRead& reply);

 private:
  static constexpr Duration kTick = std::chrono::milliseconds(10);

  struct Change {
    uint64_t id = 0;  // the asker's
    ReplyTo<EdgeChanged> to = {};
    EdgeChanged reply = {};
    Time until = Time::max();  // it waits for its reverse row
  };

  // Nothing: it was answered.
  std::optional<Change> Take(uint64_t id);
  static void Answer(Change change);
  void AnswerTheLate(Time now);
  void ReverseRow(uint64_t id, const Edge& edge);

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
