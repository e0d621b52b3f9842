// In mode `sync`, also writes the reverse row inline and waits for it, at most `budget`. A failure
// or a late write is harmless: the row of log1 stays pending for the mirror. In mode `async`,
// applies an edge without waiting if the change was already in place, which may be the repetition
// of an interrupted change.
//
// The mode is the installation's (fanline/ports/mirror_mode.h) and is read once a second; a shard
// that does not answer leaves it as it was.
//
// After and the replies: any thread. Step: one thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "api/metrics.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/ask.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/mirror_mode.h"
#include "fanline/ports/port.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline::api {

class InlineMirror {
 public:
  static constexpr Duration kModeEvery = std::chrono::seconds(1);
  static constexpr Duration kBudget = std::chrono::milliseconds(50);

  // All outlive it. `budget`: how long After may wait.
  InlineMirror(Serves<ApplyEdges>& reverse, Serves<ReadMirrorMode>& modes, const ShardMap& map,
               Metrics& metrics, Duration budget = kBudget)
      : reverse_(reverse), modes_(modes, *this), map_(map), metrics_(metrics), budget_(budget) {}

  // Call after a change of a forward edge was committed or found to be in place already.
  void After(const ForwardChanged& changed);

  // Asks for the mode when it is due; returns when to call it again.
  Time Step(Time now);

  // The replies. Those of edges come here only if After does not wait for them.
  void Push(const EdgesApplied& reply);
  void Push(const MirrorModeRead& reply);

 private:
  Serves<ApplyEdges>& reverse_;
  const Port<ReadMirrorMode> modes_;
  const ShardMap& map_;
  Metrics& metrics_;
  const Duration budget_;

  std::atomic<MirrorMode> mode_ = MirrorMode::kAsync;
  std::atomic<uint64_t> last_id_ = 0;
  std::atomic<bool> mode_asked_ = false;
  Time ask_mode_at_{};

  Answers<EdgesApplied> answers_{*this};
};

}  // namespace fanline::api
