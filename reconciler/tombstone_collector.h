// Collects tombstones: the rows that unfollows leave (fanline/ports/tombstones.h). Rows of a user
// who follows and unfollows strangers would stay for ever otherwise, and pages of followers step
// over them.
//
// A tombstone may go when nothing can bring back what it ended: it is older than any log, dead
// letter or backup is kept (`keep`), and after that a scan of whole tables has begun and come to
// the end, on every primary, in both directions, so that its reverse row is there. Then:
//
//   passes of all shards -> horizon raised -> settled -> page of old tombstones
//      -> reverse rows deleted -> forward rows of those that are gone deleted -> place moved ->
//      page
//
// The horizon comes first: from then on everybody refuses what is older. It lies `slack` above what
// is deleted, since clocks of producers and servers differ. The reverse row goes first: a reverse
// row alone would be taken for a follow that was lost. A crash in between leaves the forward
// tombstone, and a scan writes its reverse row anew, or the next sweep deletes it. Each row is
// deleted only if it is still the tombstone that was read.
//
// Several reconcilers may sweep a shard: they go on from one place. What fails is tried again after
// a while, from that place. In the modes dry_run and pause nothing is asked.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/port.h"
#include "fanline/ports/tombstones.h"
#include "reconciler/metrics.h"
#include "reconciler/repair_gate.h"

namespace fanline::reconciler {

using TombstoneInput =
    std::variant<ScanPassed, HorizonRaised, TombstonesRead, TombstonesDropped, TombstoneSweepMoved>;

struct TombstoneLimits {
  Duration keep = std::chrono::hours(24 * 21);  // 14 days of dead letters, and 7 days
  Duration slack = std::chrono::hours(1);
  Duration settle = std::chrono::minutes(1);      // longer than anybody acts on a horizon it read
  Duration sweep_every = std::chrono::hours(24);  // from one beginning to the next
  Duration ask_every = std::chrono::minutes(1);   // whether one is due
  Duration after_failure = std::chrono::seconds(30);
  uint32_t rows_per_page = 2'000;
  uint32_t rows_per_second = 5'000;  // looked at, per shard and process
};

class TombstoneCollector {
 public:
  using Store =
      Port<ReadScanPassed, RaiseHorizon, ReadTombstones, DropTombstones, MoveTombstoneSweep>;

  // `metrics` and `gate` outlive this.
  TombstoneCollector(const Store& store, Metrics& metrics, const RepairGate& gate,
                     const ShardMap& map, const TombstoneLimits& limits = {});

  // Returns when to step again, even without input.
  [[nodiscard]] Progress Step(std::span<TombstoneInput> inputs, Now now);

  // From now on nothing more is begun; keep stepping until drained().
  void StopTaking() { taking_ = false; }
  bool drained() const { return asked_.empty() && passes_open_ == 0; }

 private:
  // The sweep of one shard's forward rows.
  struct Sweep {
    UnixMs before = 0;  // what was written earlier goes; 0: its horizon is not raised yet
    Time next_at{};
    Time page_from{};     // when its page was asked for
    uint32_t open = 0;    // requests under way
    bool failed = false;  // one of the page's
    TombstonesRead page;
    std::vector<Tombstone> gone;  // whose reverse rows are
  };
  // A request under way, of the sweep of one shard.
  struct Asked {
    Shard of = 0;
    bool reverse = false;  // rows to be deleted
  };

  void On(const ScanPassed& passed, Now now);
  void On(const HorizonRaised& raised, Now now);
  void On(const TombstonesRead& read, Now now);
  void On(const TombstonesDropped& dropped, Now now);
  void On(const TombstoneSweepMoved& moved, Now now);

  bool may() const { return taking_ && gate_.mode() == ReconcilerMode::kRun; }
  uint64_t Ask(Shard of, bool reverse = false);
  Asked Answered(uint64_t id, const Status& status);
  void AskPasses(Now now);
  void Begin(Shard shard, Now now);
  void DropForward(Shard shard, Now now);
  void Move(Shard shard);
  void Fail(Shard shard, Now now);

  const Store store_;
  Metrics& metrics_;
  const RepairGate& gate_;
  const ShardMap map_;
  const TombstoneLimits limits_;
  bool taking_ = true;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Asked> asked_;  // by request; not those of passes
  std::vector<Sweep> sweeps_;                  // by shard of the forward rows

  Time ask_at_{};
  uint32_t passes_open_ = 0;  // answers of this round that are still to come
  UnixMs round_ = 0;          // the earliest pass of this round; 0: of one shard none is known
  UnixMs passed_ = 0;         // of the last whole round
};

}  // namespace fanline::reconciler
