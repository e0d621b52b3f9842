// Repairs edges: follows the pairs of relation-log (pair_tracker.h), orders the checks they need
// (checker.h) and writes pairs that must wait to the retries. About once a second it reads the mode
// and the position of an application's mirror, and reports its metrics.
//
// Records that it does not know are counted and skipped.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <unordered_map>
#include <variant>

#include "fanline/base/backoff.h"
#include "fanline/consuming/mirror_lag.h"
#include "fanline/consuming/partitions.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/log_positions.h"
#include "fanline/ports/operator_modes.h"
#include "fanline/ports/port.h"
#include "reconciler/checker.h"
#include "reconciler/pair_tracker.h"

namespace fanline::reconciler {

using PairReconcilerInput =
    std::variant<PartitionAssigned, PartitionRevoked, LogEndSeen, Record, CheckerReply,
                 ReconcilerModeRead, RetriesAppended, GroupOffsetsRead>;

class PairReconciler {
 public:
  struct Ports {
    Checker::Ports checker;
    Port<ReadReconcilerMode> mode;
    Port<AppendRetries> retries;
    Port<ReadGroupOffsets> positions;
    Metrics& metrics;
  };
  struct Setup {
    Checker::Setup checker;
    bool mirror_group = false;  // whether a group of the application applies this log
    Backoff patience{};  // until the first check of an entry of the retries (retry_reconciler.h)
  };

  // `gate` outlives this.
  PairReconciler(const Ports& ports, const Setup& setup, const Limits& limits, RepairGate& gate);

  [[nodiscard]] Progress Step(std::span<PairReconcilerInput> inputs, Now now);

  // From now on no further check is begun; keep stepping until drained(). The committed
  // offsets stay at or below all pending pairs, so the next owner finds them.
  void StopTaking();
  bool drained() const { return checker_.idle() && retries_.empty(); }
  uint64_t pending() const;

 private:
  static constexpr Duration kPollSlack = std::chrono::milliseconds(100);  // until the answer comes

  void On(const PartitionAssigned& assigned, Now now);
  void On(const PartitionRevoked& revoked, Now now);
  void On(const LogEndSeen& seen, Now);
  void On(const Record& record, Now now);
  void On(const CheckerReply& reply, Now now) { checker_.On(reply, now); }
  void On(const ReconcilerModeRead& read, Now now);
  void On(const RetriesAppended& appended, Now now);
  void On(const GroupOffsetsRead& read, Now now);

  PairTracker* TrackerOf(int32_t partition);
  void Poll(Now now);
  void Send(PairProgress& progress, Now now);
  bool TakeResults(Now now);

  Ports ports_;
  const Setup setup_;
  RepairGate& gate_;
  const Duration poll_every_;
  uint64_t ids_ = 0;  // of requests
  Checker checker_;
  PairTracker::Common common_;
  Partitions log_;
  std::map<int32_t, PairTracker> trackers_;  // by partition
  MirrorLagMeter mirror_;
  Duration mirror_lag_{};
  std::mt19937_64 random_;
  bool taking_ = true;

  std::unordered_map<uint64_t, Retry> retries_;  // request -> order
  Time next_poll_at_{};
  bool asking_mode_ = false;
  bool asking_mirror_ = false;
};

}  // namespace fanline::reconciler
