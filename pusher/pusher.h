// Makes the live timelines of the ranges it owns agree with the truth, hint by hint. A hint says
// "look again", never what to do, so a hint seen twice, late or together with others leaves the
// same timelines. A timeline that is not live is skipped, never created: its reader rebuilds it.
//
// The pusher takes over a range (range_takeover.h). The range's hints flow in (inflow.h) and wait
// in lanes (lanes.h). The heads of lanes become units under way, each in one of a bounded number of
// places (places.h): runs of posts, which go page by page (post_runs.h), or runs of syncs
// (sync_runs.h). Truth is read after the hint was taken from the log. A unit that waits for a
// resource that is away is parked (parking.h): it holds up its lane, but takes no place from other
// units.
//
// A hint that can never be carried out is quarantined. First its readers' timelines are made not
// live, so their readers rebuild them and miss nothing. Then the hint goes to the dead letters.
//
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/consuming/consumer.h"
#include "fanline/consuming/offset_ledger.h"
#include "fanline/model/record.h"
#include "fanline/ports/author_weights.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/port.h"
#include "fanline/ports/range_owners.h"
#include "fanline/ports/truth.h"
#include "pusher/inflow.h"
#include "pusher/lanes.h"
#include "pusher/limits.h"
#include "pusher/metrics.h"
#include "pusher/parking.h"
#include "pusher/post_runs.h"
#include "pusher/quarantine_walk.h"
#include "pusher/range_takeover.h"
#include "pusher/settlements.h"
#include "pusher/sync_runs.h"
#include "pusher/unit.h"

namespace fanline::pusher {

using Input =
    std::variant<PartitionAssigned, PartitionRevoked, LogEndSeen, Record, PostPage, SyncTruth,
                 RangeClaimed, RangeReset, PositionSaved, BatchWritten, TimelineRead, SyncApplied,
                 TimelineDropped, PartMarked, RangeOwned, DeadLetterAppended, AuthorWeighed>;

class Pusher {
 public:
  struct Ports {
    Port<ReadPostPage, ReadSync> truth;
    Port<ClaimRange, ResetRange, SavePosition, TimelineBatch, ReadTimeline, ApplySync, DropTimeline,
         MarkPart>
        timelines;
    Port<AcquireRange, RaiseEpoch, SaveStart, SettleRange> owners;
    Port<AppendDeadLetter> dead_letters;
    Port<WeighAuthor> weights;
    Metrics& metrics;
  };
  struct Setup {
    RangeLayout layout{16};
    uint64_t topic_generation = 1;
    uint64_t seed = 1;  // of the jitter and of the starts' tokens; differs in each process
    MutationSwitches guards{};
    ShardMap shards = ShardMap::Even(1);
    bool own_posts;  // home timelines hold the reader's own posts
  };

  Pusher(Ports ports, Setup setup, Limits limits);

  // Takes new hints and the completions of earlier requests, advances every lane as far as it can,
  // and says which offsets may be committed: those whose effect Redis has acknowledged. Ports queue
  // requests; they never block here. Throws Misconfigured if it is assigned a partition that the
  // layout does not have.
  [[nodiscard]] Progress Step(std::span<Input> inputs, Now now);

  // Starts the drain (SIGTERM): from now on no further hint and no further page of an author's
  // followers is started, and no parked unit is tried again. Keep stepping until drained().
  void StopTaking() { taking_ = false; }
  // Whether the drain is over. Work under way is finished, or left to the next owner at the end of
  // a page. The positions are saved, as far as Redis answers, and ordered to be committed.
  // range_owner has noted that no start of ours was a crash.
  bool drained() const;

 private:
  struct Owned {  // a range of ours
    Owned(Range range, const Ports& ports, const Setup& setup, const Limits& limits, uint64_t& ids)
        : takeover({ports.owners, ports.timelines, ports.metrics}, limits, setup.topic_generation,
                   ids, setup.guards),
          inflow(range, limits),
          lanes(limits, setup.shards, setup.guards) {}
    RangeTakeover takeover;
    std::optional<PartitionAssigned> assigned;  // waits until our last start is settled
    OffsetLedger ledger;
    struct End {
      int64_t offset = 0;
      UnixMs at = 0;
    };
    std::deque<End> ends;  // of the log, as seen: the last one reached, and those above
    UnixMs as_of = 0;      // of the last end reached since the takeover (AppliedPosition); 0: none
    Inflow inflow;
    Lanes lanes;
    QuarantineWalk walk;
    Shard last_started = 0;  // round robin over shards
    uint64_t started = 0;    // units, in its own turns and beside other ranges (TakeTurn)
    int64_t ordered = -1;    // the offset of the last commit
    uint64_t lasted = 0;     // the epoch that settlements_ was told has lasted
    bool left = false;       // settlements_ was told that the start ends
    Time save_at{};
    Time check_at{};
  };

  // Inputs.
  void On(PartitionAssigned& assigned, Now now);
  void On(PartitionRevoked& revoked, Now now);
  void On(LogEndSeen& seen, Now now);
  void On(Record& record, Now now);
  void On(RangeOwned& reply, Now now);
  void On(DeadLetterAppended& reply, Now now);
  void On(PostPage& page, Now now) { Advance(posts_.On(page, now), now); }
  void On(SyncTruth& truth, Now now) { Advance(syncs_.On(truth), now); }
  void On(RangeClaimed& claimed, Now now) { OfTakeover(claimed, now); }
  void On(RangeReset& reset, Now now);
  void On(PositionSaved& saved, Now now) { OfTakeover(saved, now); }
  void On(BatchWritten& written, Now now);
  void On(TimelineRead& read, Now now) { Advance(syncs_.On(read), now); }
  void On(SyncApplied& applied, Now now) { Advance(syncs_.On(applied), now); }
  void On(TimelineDropped& dropped, Now now);
  void On(PartMarked& marked, Now now) { posts_.On(marked, now); }
  void On(AuthorWeighed& weighed, Now) { posts_.On(weighed); }
  template <typename Reply>
  bool OfTakeover(const Reply& reply, Now now);

  // Units.
  void StartUnits(Now now);
  size_t running() const { return units_.size() - parking_.size(); }
  // Whether one more unit may be under way.
  bool HasRoom(const Way& way) const;
  bool HasRoom(uint64_t unit) const { return HasRoom(units_.at(unit).way); }
  bool TakeTurn(Range range, Owned& owned, Now now);
  bool StartOne(Range range, Owned& owned, Now now);
  bool StartBeside(Range range, Owned& owned, UserId author, Now now);
  void StartUnit(Range range, Owned& owned, UserId author, Now now);
  std::optional<Shard> NextShard(const Owned& owned) const;
  bool Gives(const Way& way) const { return places_.gives(way) && HasRoom(way); }
  void Begin(Unit& unit);
  uint32_t PageOf(Unit& unit);
  void Enter(Unit& unit, Unit::Stage stage);
  void Mark(Unit& unit, bool tried);
  void OnMarked(Unit& unit, const RangeOwned& reply, Now now);
  void Advance(const std::optional<RunStep>& step, Now now);
  void Finish(Unit& unit, Now now);
  void Later(Unit& unit, const Status& status, Now now);
  void Park(Unit& unit, const std::string& queue, Now now);
  void Never(Unit& unit, const std::string& reason);
  void Quarantine(Unit& unit);
  void StartWalks(Now now);
  void TryParked(Now now);
  Unit* Find(uint64_t id);

  // Ranges.
  void Lost(Range range, const Status& status, Now now);
  void Redo(Range range, TakeoverCause cause, Now now);
  void DropWork(Owned& owned, Range range);
  void TendRanges(Now now, ConsumerOrders& orders);
  Inflow::Process AllRanges() const;
  void CountWays();
  bool HasLasted(const Owned& owned, Now now) const;
  void Leave(Owned& owned, Range range, Now now);
  void LeaveUnready(Now now);
  std::vector<BegunHints> Begun(const Owned& owned, Range range) const;
  bool Moved(const Owned& owned, Range range) const;
  static bool Newer(const Owned& owned);
  static void ReachEnds(Owned& owned);
  void Save(Owned& owned, Range range);
  void SavePosition(Owned& owned, Range range, Now now);
  bool isolating(const Owned& owned) const;
  bool OneIsTried() const;
  void Show() const;
  std::optional<Time> NextTimer() const;

  Ports ports_;
  Setup setup_;
  Limits limits_;
  std::mt19937_64 random_;
  uint64_t ids_ = 0;
  bool taking_ = true;

  std::map<Range, std::unique_ptr<Owned>> ranges_;
  Settlements settlements_;
  Range last_started_ = -1;                   // round robin over ranges
  uint64_t most_started_ = 0;                 // Owned::started of the range with most
  Places places_;                             // outlives the units
  std::unordered_map<uint64_t, Unit> units_;  // by id; a unit's requests carry its id
  Parking parking_;
  PostRuns posts_;
  SyncRuns syncs_;
};

}  // namespace fanline::pusher
