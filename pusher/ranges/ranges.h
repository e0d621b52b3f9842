// The ranges that the consumer group gave to this pusher. A range is taken over (range_takeover.h).
// Then it is open: its hints flow in (inflow.h) and go to the units (units/units.h), which work on
// open ranges only. The position below which all hints are done is saved in pos: and then
// committed. Shards are told how each start of ours ends (settlements.h).
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fanline/consuming/consumer.h"
#include "fanline/consuming/offset_ledger.h"
#include "fanline/model/record.h"
#include "pusher/base/common.h"
#include "pusher/ranges/inflow.h"
#include "pusher/ranges/range_takeover.h"
#include "pusher/ranges/settlements.h"
#include "pusher/units/units.h"

namespace fanline::pusher {

class Ranges final : public RangeKeeper {
 public:
  // Both outlive this object.
  Ranges(Common& common, Units& units)
      : common_(common), limits_(common.limits), units_(units), settlements_(common) {}

  // Takes an input; returns whether it was for the ranges. Throws Misconfigured for a partition
  // that the layout does not have.
  bool On(const PartitionAssigned& assigned, Now now);
  bool On(const PartitionRevoked& revoked, Now now);
  bool On(const LogEndSeen& seen, Now now);
  bool On(Record& record, Now now);
  bool On(const RangeOwned& reply, Now now);
  bool On(const RangeClaimed& claimed, Now now);
  bool On(const RangeReset& reset, Now now);
  bool On(const PositionSaved& saved, Now now);

  // Does what is due, and orders what the ranges need of the consumer.
  void Tend(Now now, ConsumerOrders& orders);
  // When Tend has something to do, if ever.
  std::optional<Time> timer() const;

  // Begins a drain: no further hint is taken.
  void StopTaking() { taking_ = false; }
  // Whether every position is saved, as far as Redis answers, and range_owner has noted that no
  // start of ours was a crash.
  bool drained() const;
  void Show(Metrics::Held& held) const;

  // RangeKeeper.
  void HintsDone(Range range, const std::vector<ReceivedHint>& hints) override;
  void TakeOverAgain(Range range, TakeoverCause cause, Now now) override;

 private:
  struct Owned {  // a range of ours
    Owned(Range range, Common& common) : takeover(common), inflow(range, common.limits) {}
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
    const Lanes* lanes = nullptr;  // while it is open
    int64_t ordered = -1;          // the offset of the last commit
    uint64_t lasted = 0;           // the epoch that settlements_ was told has lasted
    bool left = false;             // settlements_ was told that the start ends
    Time save_at{};
    Time check_at{};
  };

  template <typename Reply>
  bool OfTakeover(const Reply& reply, Now now);
  void Drop(Owned& owned, Range range);
  void Open(Owned& owned, Range range, int64_t seek, Now now, ConsumerOrders& orders);
  Inflow::Process All() const;
  bool HasLasted(const Owned& owned, Now now) const;
  void Leave(Owned& owned, Range range, Now now);
  void LeaveUnready(Now now);
  bool HasDrained(const Owned& owned) const;
  std::vector<BegunHints> Begun(const Owned& owned, Range range) const;
  bool Moved(const Owned& owned, Range range) const;
  static bool Newer(const Owned& owned);
  static void ReachEnds(Owned& owned);
  void Save(Owned& owned, Range range);
  void SavePosition(Owned& owned, Range range, Now now);

  Common& common_;
  const Limits& limits_;
  Units& units_;
  bool taking_ = true;
  std::map<Range, std::unique_ptr<Owned>> ranges_;
  Settlements settlements_;
};

}  // namespace fanline::pusher
