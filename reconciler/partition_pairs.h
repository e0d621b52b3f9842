// The pairs of one partition of relation-log, during one assignment; pair_machine.h says what it is
// for. Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fanline/offset_ledger.h"
#include "reconciler/limits.h"
#include "reconciler/metrics.h"
#include "reconciler/pair_table.h"
#include "reconciler/pair_types.h"

namespace fanline::reconciler {

class PartitionPairs {
 public:
  // `stamps` gives numbers that no other assignment uses; all outlive this object.
  PartitionPairs(const Limits& limits, Metrics& metrics, uint64_t& stamps, int32_t partition,
                 int64_t start);

  void On(const PairRecord& record, Time now);
  void On(const HighWatermark& watermark);
  void On(const Checked& checked, Time now);
  void On(const RetryAppended& appended, Time now);

  // Forgets, checks and sends to the retries what is due. `deferred`: no checks now.
  void Advance(Time now, bool deferred, PairProgress& progress);

  int64_t committable() const;
  bool overfull() const { return pending_ - retrying_ > limits_->pending; }
  uint64_t pending() const { return pending_; }
  std::optional<UnixMs> OldestPending() const { return pairs_.OldestPending(); }
  size_t timers() const { return armed_.size() + remembered_.size(); }

 private:
  struct Timer {
    Time at{};
    PairTable::Place place = 0;
    uint64_t stamp = 0;
  };

  void Written(const PairRecord& record, Time now);
  void Mirrored(const PairRecord& record, Time now);
  void Arm(PairTable::Place place, Time now);
  void LeaveStage(Pair& pair);
  void Answer(PairTable::Place place, Time now);
  void Remember(PairTable::Place place, Time now);
  void ForgetFirst();

  // Whether `timer` was for what its pair still is.
  bool Current(const Timer& timer) const { return pairs_[timer.place].stamp == timer.stamp; }
  void DropOutdated();
  bool AdvanceFirst(Time now, bool deferred, PairProgress& progress);
  bool CaughtUp(const Timer& timer) const;
  void AskWatermark(const Timer& timer, Time now, PairProgress& progress);
  void StartCheck(PairTable::Place place, PairProgress& progress);
  bool StartRetry(PairTable::Place place, RetryCause cause, Time now, PairProgress& progress);
  void WakeBy(Time time);

  const Limits* limits_;
  Metrics* metrics_;
  uint64_t* stamps_;
  const int32_t partition_;

  PairTable pairs_;
  OffsetLedger ledger_;
  int64_t position_;   // of the next record
  UnixMs newest_ = 0;  // latest LogAppendTime consumed
  uint64_t pending_ = 0;
  uint64_t checking_ = 0;
  uint64_t retrying_ = 0;
  uint64_t expired_ = 0;  // early msg2s so far

  // In order of `at`, since what is pushed later waits just as long. Outdated ones stay in them
  // until it is their turn.
  std::deque<Timer> armed_;
  std::deque<Timer> remembered_;
  std::vector<Check> sampled_;  // to be ordered with the next Advance

  std::optional<HighWatermark> watermark_;
  Time asked_at_ = Time::min();  // for a watermark
  Time retry_after_{};           // after one that failed
  std::optional<Time> wake_;
};

}  // namespace fanline::reconciler
