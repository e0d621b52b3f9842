// Runs of the units of syncs that are under way. Each reader of a unit has a chain of calls: read
// the timeline, read the truth about its items, make the timeline agree. Each call is sent with the
// answer to the one before. A timeline that is not live is left alone. One that is being built is
// dropped, because its rebuild may have read the truth before this change. If the author's
// followers are listed (follower_lists.h), the edge is read in these cases too. Each edge that is
// read is set in the list, before the unit ends.
//
// A sync of a reader with himself is about his mutes: nobody follows himself. It reads their
// version and has the timeline name it. His own posts are left alone.
//
// The readers of a unit do not wait for each other. The adapters have all calls of one kind under
// way together and combine the reads about one author. If a call fails, the unit fails once all its
// chains have ended. The next attempt syncs every reader again, which changes nothing for those who
// were in order.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "pusher/base/common.h"
#include "pusher/units/follower_lists.h"
#include "pusher/units/unit.h"

namespace fanline::pusher {

class SyncRuns {
 public:
  // Both outlive this object.
  SyncRuns(Common& common, FollowerLists& lists)
      : common_(common), ports_(common.ports), lists_(lists) {}

  void Begin(const Unit& unit);
  // Takes the answer to a call; returns the unit's end if this was its last call.
  std::optional<RunStep> On(TimelineRead& read);
  std::optional<RunStep> On(SyncTruth& truth);
  std::optional<RunStep> On(const MutesRead& read);
  std::optional<RunStep> On(const MutesSet& set);
  std::optional<RunStep> On(const SyncApplied& applied);
  std::optional<RunStep> On(const TimelineDropped& dropped);
  // Forgets a unit of a range that was lost. Its calls are still answered.
  void ForgetUnit(uint64_t unit) { runs_.erase(unit); }

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
    bool edge_alone = false;  // nothing is to be written
  };

  uint64_t NextCall(const Call& of);
  bool ReadEdge(const Run& run, Call call);
  template <typename Next>
  std::optional<RunStep> Answered(uint64_t id, const Status& status, bool needs_claim, Next next);

  Common& common_;
  const Ports& ports_;
  FollowerLists& lists_;
  std::unordered_map<uint64_t, Run> runs_;    // by unit
  std::unordered_map<uint64_t, Call> calls_;  // by request
};

}  // namespace fanline::pusher
