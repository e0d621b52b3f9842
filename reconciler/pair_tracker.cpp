#include "reconciler/pair_tracker.h"

#include <algorithm>

namespace fanline::reconciler {
namespace {

using Stage = Pair::Stage;

}  // namespace

// ---- records --------------------------------------------------------------------------------

void PairTracker::On(const PairRecord& record, Time now) {
  if (!ledger_.Received(record.offset)) return;
  if (!common_.guards.commit_lowest_pending) ledger_.Finished(record.offset);
  position_ = record.offset + 1;
  newest_ = std::max(newest_, record.appended);
  const auto* message = std::get_if<RelationMessage>(&record.message);
  if (message == nullptr) return Settle(record.offset);
  if (const auto* msg1 = std::get_if<EdgeWritten>(message)) return Written(record, *msg1, now);
  Mirrored(record, std::get<EdgeMirrored>(*message), now);
}

void PairTracker::Written(const PairRecord& record, const EdgeWritten& msg1, Time now) {
  const PairTable::Place place = pairs_.Take(msg1.edge.key());
  Pair& pair = pairs_[place];
  if (msg1.edge.ver <= pair.written) {
    if (msg1.edge.ver < pair.written || pair.whole) {
      common_.metrics.Duplicate();
    } else {
      common_.metrics.Early();
      pair.whole = true;
      if (pair.pending()) Answer(place, now);
    }
    return Settle(record.offset);
  }
  if (pair.pending()) {
    common_.metrics.Coalesced();
    Settle(pair.offset);  // the newer msg1 covers it
  } else {
    ++pending_;
  }
  pair.live = msg1.edge.live;
  pair.pos = msg1.edge.pos;
  pair.delivery = msg1.edge.delivery;
  pair.log_id = msg1.log_id;
  pair.whole = true;
  Await(place, record, msg1.edge.ver, now);
}

void PairTracker::Mirrored(const PairRecord& record, const EdgeMirrored& msg2, Time now) {
  PairTable::Place place = pairs_.Find(msg2.edge);
  const bool pending = place != PairTable::kNone && pairs_[place].pending();
  if (place == PairTable::kNone) place = pairs_.Take(msg2.edge);
  Pair& pair = pairs_[place];
  if (msg2.ver <= pair.mirrored) {
    common_.metrics.Duplicate();
    return Settle(record.offset);
  }
  pair.mirrored = msg2.ver;
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
  pair.whole = false;
  Await(place, record, msg2.ver, now);
}

// The pair waits for the other message of this version.
void PairTracker::Await(PairTable::Place place, const PairRecord& record, uint64_t ver, Time now) {
  Pair& pair = pairs_[place];
  pair.written = ver;
  pair.offset = record.offset;
  pair.appended = record.appended;
  pair.attempts = 0;
  LeaveStage(pair);
  Arm(place, now);
}

void PairTracker::Matched(const Pair& pair, const PairRecord& record) {
  common_.metrics.Matched(
      std::chrono::milliseconds(std::max<UnixMs>(0, record.appended - pair.appended)));
  Lane& lane = LaneOf(pair);
  lane.answered = std::max(lane.answered, pair.appended);
}

// ---- stages ---------------------------------------------------------------------------------

void PairTracker::Arm(PairTable::Place place, Time now) {
  Pair& pair = pairs_[place];
  pair.stage = Stage::kArmed;
  pair.stamp = ++common_.stamps;
  LaneOf(pair).armed.push_back({now + common_.limits.grace, place, pair.stamp});
  if (++armed_ > 2 * pending_ + 1'024) DropOutdated();
}

void PairTracker::LeaveStage(Pair& pair) {
  if (pair.stage == Stage::kChecking) --LaneOf(pair).checking;
  if (pair.stage == Stage::kRetrying) --retrying_;
}

void PairTracker::Settle(int64_t offset) {
  if (common_.guards.commit_lowest_pending) ledger_.Finished(offset);
}

void PairTracker::Finish(Pair& pair) {
  LeaveStage(pair);
  pair.stage = Stage::kRemembered;
  --pending_;
  Settle(pair.offset);
}

void PairTracker::Answer(PairTable::Place place, Time now) {
  Finish(pairs_[place]);
  Remember(place, now);
}

void PairTracker::Remember(PairTable::Place place, Time now) {
  Pair& pair = pairs_[place];
  pair.stage = Stage::kRemembered;
  pair.stamp = ++common_.stamps;
  remembered_.push_back({now + common_.limits.remember, place, pair.stamp});
  if (remembered_.size() > common_.limits.remembered) ForgetFirst();
}

void PairTracker::ForgetFirst() {
  const Timer timer = remembered_.front();
  remembered_.pop_front();
  if (Current(timer)) pairs_.Erase(timer.place);
}

// While the first timer is held back, outdated timers would pile up behind it.
void PairTracker::DropOutdated() {
  armed_ = 0;
  for (Lane& lane : lanes_) {
    std::erase_if(lane.armed, [this](const Timer& timer) { return !Current(timer); });
    armed_ += lane.armed.size();
  }
}

// ---- replies --------------------------------------------------------------------------------

void PairTracker::Checked(const CheckOrder& check, bool resolved, Time now) {
  const PairTable::Place place = pairs_.Find(check.edge);
  if (place == PairTable::kNone || pairs_[place].stamp != check.ticket) return;
  ++pairs_[place].attempts;
  EndStage(place, resolved, now);
}

void PairTracker::RetryAppended(const Retry& retry, bool acknowledged, Time now) {
  if (!acknowledged) retry_after_ = now + common_.limits.grace;
  const PairTable::Place place = pairs_.Find(retry.edge);
  if (place == PairTable::kNone || pairs_[place].stamp != retry.id) return;
  EndStage(place, acknowledged, now);  // the retries hold it now
}

// The pair is answered, or armed again.
void PairTracker::EndStage(PairTable::Place place, bool answered, Time now) {
  if (answered) return Answer(place, now);
  LeaveStage(pairs_[place]);
  Arm(place, now);
}

// ---- due pairs ------------------------------------------------------------------------------

void PairTracker::Advance(Time now, Duration mirror_lag, PairProgress& progress) {
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
  const bool lagging = mirror_lag > common_.limits.grace;
  for (Lane& lane : lanes_) {
    DropOutdatedFirst(lane);
    while (!lane.armed.empty() && AdvanceFirst(lane, now, lagging, progress)) {
      Disarm(lane);
      DropOutdatedFirst(lane);
    }
  }
  progress.StepBy(wake_);
  if (overfull() == paused_) return;
  paused_ = !paused_;
  (paused_ ? progress.orders.pause : progress.orders.resume).push_back(partition_);
}

void PairTracker::Disarm(Lane& lane) {
  lane.armed.pop_front();
  --armed_;
}

void PairTracker::DropOutdatedFirst(Lane& lane) {
  while (!lane.armed.empty() && !Current(lane.armed.front())) Disarm(lane);
}

PairTracker::Lane* PairTracker::OldestLane() {
  Lane* oldest = nullptr;
  for (Lane& lane : lanes_) {
    DropOutdatedFirst(lane);
    if (lane.armed.empty()) continue;
    if (oldest == nullptr || lane.armed.front().at < oldest->armed.front().at) oldest = &lane;
  }
  return oldest;
}

// Returns whether it began something for the first armed pair. If not, those behind it wait too.
bool PairTracker::AdvanceFirst(Lane& lane, Time now, bool lagging, PairProgress& progress) {
  const Timer timer = lane.armed.front();
  const Pair& pair = pairs_[timer.place];
  if (timer.at > now) {
    WakeBy(timer.at);
    return false;
  }
  if (pair.attempts >= common_.limits.checks_before_retry) {
    return StartRetry(timer.place, RetryCause::kChecksFailed, now, progress);
  }
  if (lagging && !PassedBy(lane, pair)) return false;
  if (!CaughtUp(timer)) return false;
  if (lane.checking >= std::max<size_t>(1, common_.limits.checks_in_flight / lanes_.size()))
    return false;
  StartCheck(lane, timer.place, progress);
  return true;
}

// The answered pair must be younger by a grace: transactions of one shard do not end in the order
// of their messages.
bool PairTracker::PassedBy(const Lane& lane, const Pair& pair) const {
  return lane.answered > pair.appended + Milliseconds(common_.limits.grace);
}

// Whether everything appended before the pair's time was over has been consumed: judged by a later
// record, or by the log's end, which the consumer looks at every few seconds.
bool PairTracker::CaughtUp(const Timer& timer) const {
  if (newest_ > pairs_[timer.place].appended + Milliseconds(common_.limits.grace)) return true;
  return end_ && end_->asked_at >= timer.at && position_ >= end_->end;
}

void PairTracker::StartCheck(Lane& lane, PairTable::Place place, PairProgress& progress) {
  Pair& pair = pairs_[place];
  if (pair.attempts == 0 && pair.whole) common_.metrics.TimedOut();
  if (pair.attempts == 0 && !pair.whole) common_.metrics.EarlyExpired();
  pair.stage = Stage::kChecking;
  pair.stamp = ++common_.stamps;
  ++lane.checking;
  progress.checks.push_back({pair.stamp, pair.edge, pair.claim()});
}

bool PairTracker::StartRetry(PairTable::Place place, RetryCause cause, Time now,
                             PairProgress& progress) {
  if (retry_after_ > now) {
    WakeBy(retry_after_);
    return false;
  }
  if (retrying_ >= common_.limits.retries_in_flight) return false;
  common_.metrics.SentToRetry(cause);
  Pair& pair = pairs_[place];
  pair.stage = Stage::kRetrying;
  pair.stamp = ++common_.stamps;
  ++retrying_;
  progress.retries.push_back({partition_, pair.stamp, pair.edge, pair.claim()});
  return true;
}

}  // namespace fanline::reconciler
