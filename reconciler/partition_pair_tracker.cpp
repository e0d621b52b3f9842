#include "reconciler/partition_pair_tracker.h"

#include <algorithm>

namespace fanline::reconciler {
namespace {

using Stage = Pair::Stage;

UnixMs Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

PartitionPairTracker::PartitionPairTracker(const Limits& limits, const MutationSwitches& guards,
                                           const EdgeShards& shards, Metrics& metrics,
                                           uint64_t& stamps, int32_t partition,
                                           OffsetLedger& ledger)
    : limits_(&limits),
      guards_(&guards),
      shards_(&shards),
      metrics_(&metrics),
      stamps_(&stamps),
      partition_(partition),
      ledger_(&ledger),
      position_(ledger.committable()),
      lanes_(shards.pairs()) {}

// ---- records --------------------------------------------------------------------------------

void PartitionPairTracker::On(const PairRecord& record, Time now) {
  if (!ledger_->Received(record.offset)) return;
  if (!guards_->commit_lowest_pending) ledger_->Finished(record.offset);
  position_ = record.offset + 1;
  newest_ = std::max(newest_, record.appended);
  switch (record.kind) {
    case PairRecord::Kind::kWritten:
      return Written(record, now);
    case PairRecord::Kind::kMirrored:
      return Mirrored(record, now);
    case PairRecord::Kind::kOther:
      return Settle(record.offset);
  }
}

void PartitionPairTracker::Written(const PairRecord& record, Time now) {
  const PairTable::Place place = pairs_.Take(record.edge);
  Pair& pair = pairs_[place];
  if (record.ver <= pair.written) {
    if (record.ver < pair.written || pair.whole) {
      metrics_->Duplicate();
    } else {
      metrics_->Early();
      pair.whole = true;
      if (pair.pending()) Answer(place, now);
    }
    return Settle(record.offset);
  }
  if (pair.pending()) {
    metrics_->Coalesced();
    Settle(pair.offset);  // the newer msg1 covers it
  } else {
    ++pending_;
  }
  pair.live = record.live;
  pair.pos = record.pos;
  pair.log_id = record.log_id;
  Await(place, record, now);
}

void PartitionPairTracker::Mirrored(const PairRecord& record, Time now) {
  PairTable::Place place = pairs_.Find(record.edge);
  const bool pending = place != PairTable::kNone && pairs_[place].pending();
  if (place == PairTable::kNone) place = pairs_.Take(record.edge);
  Pair& pair = pairs_[place];
  if (record.ver <= pair.mirrored) {
    metrics_->Duplicate();
    return Settle(record.offset);
  }
  pair.mirrored = record.ver;
  if (pending && pair.mirrored < pair.written) return Settle(record.offset);
  if (pending) {
    if (pair.whole) Matched(pair, record);
    Finish(pair);
  }
  if (pair.mirrored <= pair.written) {
    Settle(record.offset);
    return Remember(place, now);
  }
  ++pending_;  // until its msg1 comes; without one, the forward shard may have lost the change
  Await(place, record, now);
}

// The pair waits for the other message of this version.
void PartitionPairTracker::Await(PairTable::Place place, const PairRecord& record, Time now) {
  Pair& pair = pairs_[place];
  pair.written = record.ver;
  pair.whole = record.kind == PairRecord::Kind::kWritten;
  pair.offset = record.offset;
  pair.appended = record.appended;
  pair.attempts = 0;
  LeaveStage(pair);
  Arm(place, now);
}

void PartitionPairTracker::Matched(const Pair& pair, const PairRecord& record) {
  metrics_->Matched(
      std::chrono::milliseconds(std::max<UnixMs>(0, record.appended - pair.appended)));
  Lane& lane = LaneOf(pair);
  lane.answered = std::max(lane.answered, pair.appended);
}

// ---- stages ---------------------------------------------------------------------------------

void PartitionPairTracker::Arm(PairTable::Place place, Time now) {
  Pair& pair = pairs_[place];
  pair.stage = Stage::kArmed;
  pair.stamp = ++*stamps_;
  LaneOf(pair).armed.push_back({now + limits_->grace, place, pair.stamp});
  if (++armed_ > 2 * pending_ + 1'024) DropOutdated();
}

void PartitionPairTracker::LeaveStage(Pair& pair) {
  if (pair.stage == Stage::kChecking) --LaneOf(pair).checking;
  if (pair.stage == Stage::kRetrying) --retrying_;
}

void PartitionPairTracker::Settle(int64_t offset) {
  if (guards_->commit_lowest_pending) ledger_->Finished(offset);
}

void PartitionPairTracker::Finish(Pair& pair) {
  LeaveStage(pair);
  pair.stage = Stage::kRemembered;
  --pending_;
  Settle(pair.offset);
}

void PartitionPairTracker::Answer(PairTable::Place place, Time now) {
  Finish(pairs_[place]);
  Remember(place, now);
}

void PartitionPairTracker::Remember(PairTable::Place place, Time now) {
  Pair& pair = pairs_[place];
  pair.stage = Stage::kRemembered;
  pair.stamp = ++*stamps_;
  remembered_.push_back({now + limits_->remember, place, pair.stamp});
  if (remembered_.size() > limits_->remembered) ForgetFirst();
}

void PartitionPairTracker::ForgetFirst() {
  const Timer timer = remembered_.front();
  remembered_.pop_front();
  if (Current(timer)) pairs_.Erase(timer.place);
}

// While the first timer is held back, outdated timers would pile up behind it.
void PartitionPairTracker::DropOutdated() {
  armed_ = 0;
  for (Lane& lane : lanes_) {
    std::erase_if(lane.armed, [this](const Timer& timer) { return !Current(timer); });
    armed_ += lane.armed.size();
  }
}

// ---- replies --------------------------------------------------------------------------------

void PartitionPairTracker::On(const Checked& checked, Time now) {
  const PairTable::Place place = pairs_.Find(checked.edge);
  if (place == PairTable::kNone || pairs_[place].stamp != checked.ticket) return;
  Pair& pair = pairs_[place];
  if (pair.stage != Stage::kChecking) return;
  if (checked.resolved) {
    Answer(place, now);
  } else {
    ++pair.attempts;
    LeaveStage(pair);
    Arm(place, now);
  }
}

void PartitionPairTracker::On(const RetryAppended& appended, Time now) {
  if (!appended.acknowledged) retry_after_ = now + limits_->grace;
  const PairTable::Place place = pairs_.Find(appended.edge);
  if (place == PairTable::kNone || pairs_[place].stamp != appended.id) return;
  Pair& pair = pairs_[place];
  if (pair.stage != Stage::kRetrying) return;
  if (appended.acknowledged) {
    Answer(place, now);  // the retries hold it now
  } else {
    LeaveStage(pair);
    Arm(place, now);
  }
}

// ---- due pairs ------------------------------------------------------------------------------

void PartitionPairTracker::Advance(Time now, bool lagging, PairProgress& progress) {
  wake_.reset();
  while (!remembered_.empty() && (remembered_.front().at <= now || !Current(remembered_.front()))) {
    ForgetFirst();
  }
  if (!remembered_.empty()) WakeBy(remembered_.front().at);

  while (overfull()) {
    Lane* oldest = OldestLane();
    if (oldest == nullptr) break;
    if (!StartRetry(oldest->armed.front().place, RetryCause::kTooMany, now, progress)) break;
    Disarm(*oldest);
  }
  for (Lane& lane : lanes_) {
    DropOutdatedFirst(lane);
    while (!lane.armed.empty() && AdvanceFirst(lane, now, lagging, progress)) {
      Disarm(lane);
      DropOutdatedFirst(lane);
    }
  }
  progress.StepBy(wake_);
}

void PartitionPairTracker::Disarm(Lane& lane) {
  lane.armed.pop_front();
  --armed_;
}

void PartitionPairTracker::DropOutdatedFirst(Lane& lane) {
  while (!lane.armed.empty() && !Current(lane.armed.front())) Disarm(lane);
}

PartitionPairTracker::Lane* PartitionPairTracker::OldestLane() {
  Lane* oldest = nullptr;
  for (Lane& lane : lanes_) {
    DropOutdatedFirst(lane);
    if (lane.armed.empty()) continue;
    if (oldest == nullptr || lane.armed.front().at < oldest->armed.front().at) oldest = &lane;
  }
  return oldest;
}

// Returns whether it began something for the first armed pair. If not, those behind it wait too.
bool PartitionPairTracker::AdvanceFirst(Lane& lane, Time now, bool lagging,
                                        PairProgress& progress) {
  const Timer timer = lane.armed.front();
  const Pair& pair = pairs_[timer.place];
  if (timer.at > now) {
    WakeBy(timer.at);
    return false;
  }
  if (pair.attempts >= limits_->checks_before_retry) {
    return StartRetry(timer.place, RetryCause::kChecksFailed, now, progress);
  }
  if (lagging && !PassedBy(lane, pair)) return false;
  if (!CaughtUp(timer)) return false;
  if (lane.checking >= std::max<size_t>(1, limits_->checks_in_flight / lanes_.size())) return false;
  StartCheck(lane, timer.place, progress);
  return true;
}

// The answered pair must be younger by a grace: transactions of one shard do not end in the order
// of their messages.
bool PartitionPairTracker::PassedBy(const Lane& lane, const Pair& pair) const {
  return lane.answered > pair.appended + Milliseconds(limits_->grace);
}

// Whether everything appended before the pair's time was over has been consumed: judged by a later
// record, or by the log's end, which the consumer looks at every few seconds.
bool PartitionPairTracker::CaughtUp(const Timer& timer) const {
  if (newest_ > pairs_[timer.place].appended + Milliseconds(limits_->grace)) return true;
  return end_ && end_->asked_at >= timer.at && position_ >= end_->end;
}

void PartitionPairTracker::StartCheck(Lane& lane, PairTable::Place place, PairProgress& progress) {
  Pair& pair = pairs_[place];
  if (pair.attempts == 0 && pair.whole) metrics_->TimedOut();
  if (pair.attempts == 0 && !pair.whole) metrics_->EarlyExpired();
  pair.stage = Stage::kChecking;
  pair.stamp = ++*stamps_;
  ++lane.checking;
  progress.checks.push_back({pair.stamp, pair.edge, pair.claim()});
}

bool PartitionPairTracker::StartRetry(PairTable::Place place, RetryCause cause, Time now,
                                      PairProgress& progress) {
  if (retry_after_ > now) {
    WakeBy(retry_after_);
    return false;
  }
  if (retrying_ >= limits_->retries_in_flight) return false;
  metrics_->SentToRetry(cause);
  Pair& pair = pairs_[place];
  pair.stage = Stage::kRetrying;
  pair.stamp = ++*stamps_;
  ++retrying_;
  progress.retries.push_back({partition_, pair.stamp, pair.edge, pair.claim()});
  return true;
}

}  // namespace fanline::reconciler
