// Units of syncs that are under way. Each reader of a unit has a chain of calls, each sent with the
// answer to the one before: the timeline is read, then the truth about what stands in it, then the
// two are made to agree. A timeline that is not live is left alone; one that is being built is
// dropped, as its rebuild may have read of before this change.
//
// The readers of a unit do not wait for each other: the adapters have all calls of one kind under
// way together, and read what they ask about one author together. A unit with a failure ends with
// it, once all its chains have ended; syncing every reader again changes nothing for the others.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "pusher/unit.h"

namespace fanline::pusher {

class SyncRuns {
 public:
  // `window`: items a timeline keeps.
  SyncRuns(const RunPorts& ports, uint32_t window) : ports_(ports), window_(window) {}

  void Begin(const Unit& unit);
  // Offers the answer to a call; the unit's end, when it brings that.
  std::optional<RunStep> On(TimelineRead& read);
  std::optional<RunStep> On(SyncTruth& truth);
  std::optional<RunStep> On(const SyncApplied& applied);
  std::optional<RunStep> On(const TimelineDropped& dropped);
  // All units of a range that was lost. Their calls are still to be answered.
  void Forget(Range range);

  size_t calls() const { return calls_.size(); }  // under way, one for each reader

 private:
  struct Run {
    Range range = 0;
    uint64_t epoch = 0;
    UserId author{};
    size_t readers = 0;  // whose chain has not ended
    Status trouble;
  };
  struct Call {
    uint64_t unit = 0;
    UserId reader{};
  };

  uint64_t NextCall(const Call& of);
  template <typename Next>
  std::optional<RunStep> Answered(uint64_t id, const Status& status, bool needs_claim, Next next);

  const RunPorts ports_;
  const uint32_t window_;
  std::unordered_map<uint64_t, Run> runs_;    // by unit
  std::unordered_map<uint64_t, Call> calls_;  // by request
};

}  // namespace fanline::pusher
