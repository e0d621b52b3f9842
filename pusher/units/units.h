// The work on the hints of the open ranges. Hints wait in lanes (lanes.h). The heads of lanes
// become units under way, each on a credit that bounds what it holds (admission.h): runs of posts,
// which go page by page (post_runs.h), or runs of syncs (sync_runs.h). Truth is read after the hint
// was taken from the log. A unit that waits for a resource that is away is parked: it holds up its
// lane, but takes no credit from other units.
//
// Units are independent of each other. Each knows its stage. Every reply moves exactly one unit,
// except a batch's reply, which moves all units that share the batch.
//
// A hint that can never be carried out is quarantined. First its readers' timelines are made not
// live, so their readers rebuild them and miss nothing. Then the hint goes to the dead letters.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "pusher/base/common.h"
#include "pusher/units/admission.h"
#include "pusher/units/audiences.h"
#include "pusher/units/follower_lists.h"
#include "pusher/units/lanes.h"
#include "pusher/units/post_runs.h"
#include "pusher/units/quarantine_walk.h"
#include "pusher/units/sync_runs.h"
#include "pusher/units/unit.h"

namespace fanline::pusher {

// What the units tell the keeper of their ranges.
class RangeKeeper {
 public:
  virtual ~RangeKeeper() = default;

  virtual void HintsDone(Range range, const std::vector<ReceivedHint>& hints) = 0;
  // This pusher is no longer taken for the range's owner. The keeper drops the range's work.
  virtual void TakeOverAgain(Range range, TakeoverCause cause, Now now) = 0;
};

class Units {
 public:
  struct Opened {  // a range that was taken over
    uint32_t node = 0;
    uint64_t epoch = 0;
    uint64_t index = 0;    // RangeTakeover::index
    uint64_t start = 0;    // the token of ours
    uint32_t crashes = 0;  // starts of others that are not settled
    Time since{};
  };

  // Both outlive this object.
  Units(Common& common, RangeKeeper& keeper);

  // Ranges. Nothing is done for a range unless it is open.
  // The range was taken over with this begun work. Returns its lanes, which live until Drop.
  const Lanes& Open(Range range, const Opened& opened, const std::vector<BegunHints>& begun);
  // Forgets all work on the range. Writes under way may still arrive in Redis, which refuses them
  // by their epoch.
  void Drop(Range range);
  void Add(Range range, ReceivedHint hint) { open_.at(range).lanes.Add(std::move(hint)); }
  void Learn(Range range, uint32_t crashes);  // Opened::crashes, as the shard answered since

  // Replies.
  void On(const RangeOwned& reply, Now now);
  void On(const DeadLetterAppended& reply, Now now);
  void On(const PostStates& states, Now now);
  void On(FollowerPage& page, Now now) { Advance(posts_.On(page, now), now); }
  void On(const NewsRead& news, Now now);
  void On(SyncTruth& truth, Now now) { Advance(syncs_.On(truth), now); }
  void On(const RangeReset& reset, Now now);
  void On(const BatchWritten& written, Now now);
  void On(const MutesRead& read, Now now) { Advance(syncs_.On(read), now); }
  void On(const MutesSet& set, Now now) { Advance(syncs_.On(set), now); }
  void On(const SyncApplied& applied, Now now) { Advance(syncs_.On(applied), now); }
  void On(TimelineDropped& dropped, Now now);
  void On(const PartMarked& marked, Now now) { posts_.On(marked, now); }
  void On(const AuthorWeighed& weighed, Now) { posts_.On(weighed); }

  // Goes on with parked units that are due and with large units that have their turn. They go
  // first. Otherwise lanes that have not begun would take every credit that becomes free.
  void GoOn(Now now);
  // Starts what there is room for, and sends what waits.
  void Start(Now now);
  // When there is something to try or to start, if ever.
  std::optional<Time> timer() const;

  // Begins a drain: no further unit is started or tried again, and no further page of an author's
  // followers is read.
  void StopTaking() { taking_ = false; }

  // A range's begun work, by the offset of its first hint.
  const std::map<int64_t, BegunHints>& begun(Range range) const { return posts_.begun(range); }
  bool idle() const { return units_.size() == admission_.parked() + admission_.awaiting_turns(); }
  void Show(Metrics::Held& held) const;

 private:
  struct Work {  // of an open range
    Work(const Opened& as, const Common& common)
        : opened(as), lanes(common.limits, common.setup.shards, common.setup.guards) {}
    // Whether hints start one at a time, each after its offset was saved. They do after the second
    // crash.
    bool isolating() const { return opened.crashes >= kSuspicious; }

    Opened opened;
    Lanes lanes;
    QuarantineWalk walk;
    std::vector<Unit*> units;  // at Unit::place
    Shard last_started = 0;    // round robin over shards
    uint64_t started = 0;      // units, in its own turns and beside other ranges
  };

  // Starting.
  void StartUnits(Now now);
  bool TakeTurn(Range range, Work& work, Now now);
  bool StartOne(Range range, Work& work, Now now);
  bool StartBeside(Range range, Work& work, UserId author, Now now);
  void StartUnit(Range range, Work& work, UserId author, Now now);
  std::optional<Shard> NextShard(const Work& work) const;
  bool OneIsTried() const;
  // A unit's stages.
  void Begin(Unit& unit, Now now);
  void Enter(Unit& unit, Unit::Stage stage, Now now);
  void Mark(Unit& unit, bool tried);
  void OnMarked(Unit& unit, const RangeOwned& reply, Now now);
  void NeedWalk(const Unit& unit);
  void StartWalks();
  // A unit's ends.
  void Advance(const std::optional<RunStep>& step, Now now);
  void Finish(Unit& unit, Now now);
  void Later(Unit& unit, const Status& status, Now now);
  void Park(Unit& unit, const Admission::QueueName& queue, Now now);
  void AwaitTurn(Unit& unit);
  void Never(Unit& unit, const std::string& reason, Now now);
  void ForgetLists(const Unit& unit);
  void Quarantine(Unit& unit, Now now);
  void Lost(Range range, const Status& status, Now now);
  void CountWays();
  void ForgetDropped();
  Unit* Find(uint64_t id);
  Unit TakeOut(const Unit& unit);

  Common& common_;
  const Ports& ports_;
  const Limits& limits_;
  RangeKeeper& keeper_;
  bool taking_ = true;

  std::map<Range, Work> open_;
  Range last_started_ = -1;                   // round robin over ranges
  uint64_t most_started_ = 0;                 // Work::started of the range with most
  Admission admission_;                       // outlives the units and the runs
  bool dropped_ = false;                      // it may still name units that are no more
  std::unordered_map<uint64_t, Unit> units_;  // by id; a unit's requests carry its id
  FollowerLists lists_;                       // outlives the runs
  Audiences audiences_;                       // likewise
  PostRuns posts_;
  SyncRuns syncs_;
};

}  // namespace fanline::pusher
