// Runs of the units of syncs that are under way. A run waits for news of who is live (audience.h).
// Then each of its readers who may be live has a chain of two calls: read the truth about reader
// and author, and make the timeline agree (sync.lua). The timeline is not read before: its items
// say whose they are, so the script takes out what the truth does not name.
//
// Between the two calls nobody else writes this author's items into the timeline. The lane of range
// and author is serial, and only a rebuild is not in it. A rebuild that becomes ready in between
// may have read a newer truth; the change that it saw has a hint behind this one. A rebuild that is
// still under way may have read the truth before this change, so the script drops what it builds.
//
// A reader who is not live needs nothing: a rebuild that begins later reads the truth later. If the
// author's followers are listed (follower_lists.h), the edge is read all the same. Each edge that
// is read is set in the list, before the unit ends.
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
#include <vector>

#include "pusher/base/common.h"
#include "pusher/units/audiences.h"
#include "pusher/units/follower_lists.h"
#include "pusher/units/unit.h"

namespace fanline::pusher {

class SyncRuns {
 public:
  // All outlive this object.
  SyncRuns(Common& common, FollowerLists& lists, Audiences& audiences)
      : common_(common), ports_(common.ports), lists_(lists), audiences_(audiences) {}

  void Begin(const Unit& unit);
  // Take an answer to a call; return the unit's end if this was its last call. News may be about
  // units of others.
  std::optional<RunStep> OnNews(uint64_t unit, const Status& status);
  std::optional<RunStep> On(SyncTruth& truth);
  std::optional<RunStep> On(const MutesRead& read);
  std::optional<RunStep> On(const MutesSet& set);
  std::optional<RunStep> On(const SyncApplied& applied);
  // Forgets a unit of a range that was lost. Its calls are still answered.
  void ForgetUnit(uint64_t unit);

  // Readers whose chains are under way, or are to begin with the news.
  size_t readers() const { return calls_.size() + awaiting_; }

 private:
  struct Run {
    Range range = 0;
    uint64_t epoch = 0;
    UserId author{};
    std::vector<UserId> readers{};  // until the news are there
    size_t open = 0;                // chains that have not ended
    Status trouble{};
  };
  struct Call {
    uint64_t unit = 0;
    UserId reader{};
    bool live = false;   // he may be; else only the edge is read
    uint64_t heard = 0;  // Audience::heard, when the chain began
  };

  void ReadTruth(const Run& run, const Call& call);
  uint64_t NextCall(const Call& of);
  template <typename Next>
  std::optional<RunStep> Answered(uint64_t id, const Status& status, bool needs_claim, Next next);

  Common& common_;
  const Ports& ports_;
  FollowerLists& lists_;
  Audiences& audiences_;
  std::unordered_map<uint64_t, Run> runs_;    // by unit
  std::unordered_map<uint64_t, Call> calls_;  // by request, one for each reader
  size_t awaiting_ = 0;                       // Run::readers of all runs
};

}  // namespace fanline::pusher
