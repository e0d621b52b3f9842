// Makes the live timelines of the ranges it owns agree with the truth, hint by hint. A hint says
// "look again", never what to do, so a hint seen twice, late or beside others leaves the same
// timelines. A timeline that is not live is skipped, never created: its reader rebuilds it.
//
// Order: all hints of one (range, author) form a lane; the head of a lane - a run of syncs, or of
// posts - is a unit, and nothing behind it is written before it is finished. Lanes of different
// authors commute and pass each other freely; units of big authors go page by page, others in
// between. Truth is read after the hint was taken from the log. A unit that waits for a resource
// that is away is parked: it holds up its lane, and takes no place from units that can be worked
// on.
//
// An offset is committed after pos: in Redis says that all below it is applied. Replaying from
// anywhere changes nothing.
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
#include "fanline/hint_log.h"
#include "fanline/live_timelines.h"
#include "fanline/range_owners.h"
#include "fanline/record.h"
#include "fanline/truth.h"
#include "pusher/limits.h"
#include "pusher/metrics.h"
#include "pusher/parking.h"
#include "pusher/range_takeover.h"
#include "pusher/settlements.h"
#include "pusher/unit.h"
#include "pusher/write_batcher.h"

namespace fanline::pusher {

using Input = std::variant<PartitionAssigned, PartitionRevoked, Record, TruthReply, TimelineReply,
                           RangeOwned, DeadLetterAppended>;

class Pusher {
 public:
  struct Ports {
    Truth& truth;
    LiveTimelines& timelines;
    RangeOwners& owners;
    DeadLetters& dead_letters;
    Metrics& metrics;
  };
  struct Setup {
    RangeLayout layout{16};
    uint64_t topic_generation = 1;
    uint64_t seed = 1;  // of the jitter
  };

  Pusher(Ports ports, Setup setup, Limits limits);
  ~Pusher();

  // Takes new hints and the completions of earlier requests, advances every lane as far as it
  // can, and says which offsets may be committed: those whose effect Redis has acknowledged.
  // Ports queue requests; they never block here. Throws Misconfigured when it is assigned a
  // partition that the layout does not have.
  [[nodiscard]] Progress Step(std::span<Input> inputs, Now now);

  // From now on no further hint is started (SIGTERM); keep stepping until drained().
  void StopTaking() { taking_ = false; }
  // Everything started is finished, saved and ordered to be committed, and range_owner knows that
  // no start of ours was a crash.
  bool drained() const;

  size_t ranges_ready() const;
  size_t ranges() const { return ranges_.size(); }
  size_t hints_open() const;

 private:
  struct Lane {
    std::deque<ReceivedHint> waiting;
    size_t active = 0;    // units under way: at most one (the guard)
    bool queued = false;  // stands in Owned::runnable
    bool parked = false;  // the unit under way is: what waits, waits for it
    bool singly = false;  // one hint a unit: a culprit is looked for
  };
  // The walk over a range's keys that makes its timelines not live: one at a time, each for all
  // units that wait when it begins. A unit that comes later needs the next: a timeline that the
  // walk has passed may have been built anew, without the unit's hint, since.
  struct QuarantineWalk {
    uint64_t id = 0;     // of the reset under way
    size_t waiting = 0;  // units that need the next
    uint32_t attempts = 0;
    Time not_before{};
  };
  // A hint that only a newer pusher can read. The range stops in front of it and asks for it again
  // from time to time; it keeps nothing of it, so a drain - the upgrade - does not wait for it.
  struct NewerHint {
    int64_t offset = 0;
    std::string why;
    uint32_t attempts = 0;
    Time again_at{};
  };
  struct Owned {  // a range of ours
    explicit Owned(RangeTakeover::Ports ports, const Limits& limits, const Pusher::Setup& setup,
                   uint64_t& ids)
        : takeover(ports, limits, setup.layout, setup.topic_generation, ids), batcher(limits) {}
    RangeTakeover takeover;
    std::optional<PartitionAssigned> assigned;  // not begun: our last start is being settled
    OffsetLedger ledger;
    WriteBatcher batcher;
    std::unordered_map<UserId, Lane> lanes;
    std::deque<UserId> runnable;  // lanes with waiting hints and no unit under way
    size_t units = 0;
    size_t parked_hints = 0;         // of parked units and of the lanes behind them
    bool feeding = false;            // a seek was ordered: records from now on are meant for us
    bool flowing = false;            // the consumer delivers: it was not told to pause since
    int64_t ordered = -1;            // the last commit
    std::optional<PauseCause> full;  // it holds all it may
    uint64_t told = 0;               // the epoch whose start was given to settlements_
    QuarantineWalk walk;
    std::optional<NewerHint> newer;
    Time ready_since{};
    Time save_at{};
    Time check_at{};
  };
  struct SentBatch {
    Range range = 0;
    std::vector<Share> shares;
  };

  // Inputs.
  void On(PartitionAssigned& assigned, Now now);
  void On(PartitionRevoked& revoked, Now now);
  void On(Record& record, Now now);
  void On(TruthReply& reply, Now now);
  void On(TimelineReply& reply, Now now);
  void On(RangeOwned& reply, Now now);
  void On(DeadLetterAppended& reply, Now now);
  void OnPage(PostPage& page, Now now);
  void OnSyncTruth(SyncTruth& truth, Now now);
  void OnBatch(BatchWritten& written, Now now);
  void OnTimelineRead(TimelineRead& read, Now now);
  Unit* EndSyncCall(uint64_t id, const Status& status, bool needs_claim, UserId* reader, Now now);
  void ReaderDone(Unit& unit, Now now);
  uint64_t NextSyncCall(const Unit& unit, UserId reader);
  void OnSyncApplied(SyncApplied& applied, Now now);
  void OnDropped(uint64_t id, const Status& status, bool needs_claim, Now now);
  void OnPartMarked(const PartMarked& marked, Now now);
  template <typename Reply>
  bool OfTakeover(const Reply& reply, Now now);

  // Units.
  void StartUnits(Now now);
  bool Refills(Now now) const;
  size_t running() const { return units_.size() - parking_.size(); }
  bool HasRoom() const;  // for one more unit under way
  size_t MostHints(const Lane& lane) const;
  bool StartOne(Owned& owned, Range range);
  void Begin(Unit& unit);
  void BeginSyncs(Unit& unit);
  void ReadPage(Unit& unit);
  void WritePage(Unit& unit, std::vector<UserId> readers, Now now);
  void PageDone(Unit& unit, Now now);
  void Finish(Unit& unit, Now now);
  void MarkParts(const Unit& unit);
  void Later(Unit& unit, const Status& status, Now now);
  void Never(Unit& unit, const std::string& reason);
  void Quarantine(Unit& unit);
  void DropReaders(Unit& unit);
  void StartWalks(Now now);
  void OnWalked(const RangeReset& walked, Now now);
  void SendToDeadLetters(Unit& unit);
  void Failed(Unit& unit, const Status& status, bool needs_claim, Now now);
  void Lost(Range range, const Status& status, Now now);
  void TryParked(Now now);
  void SetParked(Unit& unit, bool parked);
  Unit* Find(uint64_t id);

  // Ranges.
  void SendBatches();
  void DropWork(Owned& owned, Range range);
  void Park(Owned& owned, int64_t offset, std::string why, Now now);
  void DirectFlow(Owned& owned, Range range, Now now, ConsumerOrders& orders);
  void ShowNewer() const;
  void Redo(Range range, TakeoverCause cause, Now now);
  void TendRanges(Now now, ConsumerOrders& orders);
  void Settle(Owned& owned, Range range, Now now);
  void LeaveUnready(Now now);
  bool Lasted(const Owned& owned, Now now) const;
  std::optional<PauseCause> BoundReached(const Owned& owned, uint32_t share) const;
  void ShowHeld() const;
  void SavePosition(Owned& owned, Now now);
  bool isolating(const Owned& owned) const;
  std::optional<Time> NextTimer() const;

  Ports ports_;
  Setup setup_;
  Limits limits_;
  std::mt19937_64 random_;
  uint64_t ids_ = 0;
  bool taking_ = true;

  std::map<Range, std::unique_ptr<Owned>> ranges_;
  Settlements settlements_;
  Range last_started_ = -1;  // round robin over ranges
  Range last_sent_ = -1;
  std::optional<Time> full_since_;            // all places were taken; not refilled since
  std::unordered_map<uint64_t, Unit> units_;  // by id; a unit's requests carry its id
  Parking parking_;
  std::unordered_map<uint64_t, SyncCall> sync_calls_;
  std::unordered_map<uint64_t, SentBatch> batches_;
  size_t batches_in_flight_ = 0;
  struct MarkedPart {
    int size_class = 0;
    UnixMs published_at = 0;
  };
  std::unordered_map<uint64_t, MarkedPart> marks_;
};

}  // namespace fanline::pusher
