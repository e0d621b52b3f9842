#include "pusher/ranges/range_takeover.h"

#include <algorithm>
#include <limits>

#include "fanline/base/check.h"

namespace fanline::pusher {

void RangeTakeover::Start(const PartitionAssigned& assigned, uint64_t token, Now) {
  assigned_ = assigned;
  start_.token = token;
  expected_ = assigned.start;
  end_ = assigned.end;
  ports_.metrics.TakeoverStarted(TakeoverCause::kAssigned);
  Own(true);
}

void RangeTakeover::Again(TakeoverCause cause, Now now, uint64_t random) {
  if (stage_ != Stage::kReady) return;
  ports_.metrics.TakeoverStarted(cause);
  saving_ = 0;
  unsure_ = false;
  seek_.reset();
  expected_ = saved_.offset;
  raise_above_ = epoch();
  attempts_ = 0;
  if (ready_for(now) >= limits_.peace) contests_ = 0;
  if (cause == TakeoverCause::kFenced) {
    GiveWay(now, random);
  } else {
    Own(false);
  }
}

// The first request of an assignment notes the start; later ones only raise the epoch.
void RangeTakeover::Own(bool first) {
  stage_ = Stage::kOwning;
  retry_at_.reset();
  awaited_ = ++ids_;
  if (first) {
    ports_.owners.Submit(AcquireRange{awaited_, assigned_.partition, start_.token});
  } else {
    ports_.owners.Submit(RaiseEpoch{awaited_, assigned_.partition, raise_above_, start_.token});
  }
}

void RangeTakeover::Claim() {
  stage_ = Stage::kClaiming;
  retry_at_.reset();
  awaited_ = ++ids_;
  ports_.timelines.Submit(ClaimRange{awaited_, assigned_.partition, epoch()});
}

void RangeTakeover::Retry(Now now, uint64_t random) {
  awaited_ = 0;
  retry_at_ = now.mono + limits_.takeover.Delay(++attempts_, random);
}

void RangeTakeover::GiveWay(Now now, uint64_t random) {
  stage_ = Stage::kOwning;
  awaited_ = 0;
  raised_ = false;
  const Duration wait = limits_.contested.Delay(++contests_, random);
  retry_at_ = now.mono + wait;
  ports_.metrics.RangeContested(assigned_.partition, wait);
}

void RangeTakeover::Failed(const Status& status, Now now, uint64_t random) {
  ports_.metrics.Parked(status.resource);
  if (status.resource == "fence") {
    GiveWay(now, random);
  } else {
    Retry(now, random);
  }
}

void RangeTakeover::OnTimer(Now now) {
  if (!retry_at_ || *retry_at_ > now.mono) return;
  // A failed claim is repeated with the same epoch. If the first one was carried out after all, the
  // second one is refused, and then the epoch is raised. A reset that failed half-way is begun
  // again under a higher epoch.
  if (stage_ == Stage::kClaiming) return Claim();
  raise_above_ = std::max(raise_above_, epoch());
  Own(epoch() == 0);
}

bool RangeTakeover::On(const RangeOwned& reply, Now now, uint64_t random) {
  if (stage_ != Stage::kOwning || reply.id != awaited_) return false;
  if (!reply.status.done()) {
    ports_.metrics.Parked(reply.status.resource);
    Retry(now, random);
    return true;
  }
  start_.epoch = reply.epoch;
  Learn(reply);
  Claim();
  return true;
}

bool RangeTakeover::On(const RangeClaimed& reply, Now now, uint64_t random) {
  if (stage_ != Stage::kClaiming || reply.id != awaited_) return false;
  if (!reply.status.done()) {
    ports_.metrics.Parked(reply.status.resource);
    unsure_claim_ = epoch();
    Retry(now, random);
  } else if (reply.refused_by != 0) {
    // Redis holds an epoch that is not below the one the shard gave: raise the row above it and
    // claim again. If that is refused too, the shard lost no epoch, but another owner is claiming
    // beside us. An epoch that we may have written ourselves does not show another owner.
    raise_above_ = reply.refused_by;
    const bool ours = reply.refused_by == unsure_claim_;
    if (!ours && std::exchange(raised_, true)) {
      GiveWay(now, random);
    } else {
      Own(false);
    }
  } else {
    raised_ = false;
    node_ = reply.node;
    Decide(reply);
  }
  return true;
}

// The furthest that the log is known to have been read; begun hints were read too. In a contest
// another owner may have written pos: after the log's end was looked up. That position says nothing
// about the end.
int64_t RangeTakeover::Furthest(const std::optional<AppliedPosition>& found) const {
  if (contests_ > 0 || !found) return expected_;
  const int64_t read = found->begun.empty() ? found->offset : found->begun.back().offset + 1;
  return std::max({expected_, found->offset, read});
}

// What Redis has lost, if anything. The log may begin after pos: because the snapshot is so old or
// because the group stood still for so long. After a seek to an offset that is gone, these cannot
// be told apart.
std::optional<RedisLoss> RangeTakeover::LossIn(const RangeClaimed& claimed) const {
  const auto& found = claimed.position;
  if (claimed.foreign || (found && found->generation != generation_)) return RedisLoss::kForeign;
  const bool had_one = assigned_.committed || ready_since_;
  if (!found) return had_one && !forgotten_ ? std::optional(RedisLoss::kMissing) : std::nullopt;
  if (found->offset < assigned_.low) return RedisLoss::kOlderThanLog;
  const bool behind = found->offset < expected_ && contests_ == 0;
  return behind ? std::optional(RedisLoss::kBehind) : std::nullopt;
}

int64_t RangeTakeover::StartAfterDrop() const {
  const bool known = end_ && *end_ != std::numeric_limits<int64_t>::max();
  // In a contest the other owner may have begun to drop for a lost tail, which we did not see.
  const int64_t read = contests_ > 0 ? assigned_.low : expected_;
  return std::max(known ? *end_ : read, assigned_.low);
}

void RangeTakeover::Decide(const RangeClaimed& claimed) {
  if (const auto loss = LossIn(claimed)) loss_ = loss;
  auto found = claimed.position;
  // A position of another generation says nothing about this log.
  if (found && found->generation != generation_) found.reset();
  if (found && !guards_.positions) found->offset = std::max(expected_, assigned_.low);
  const int64_t furthest = Furthest(found);
  const bool tail_lost = end_ && (tail_told_ || furthest > *end_) && guards_.tail_drops_range;
  if (tail_lost && !std::exchange(tail_told_, true)) {
    ports_.metrics.TailLost(assigned_.partition, furthest, *end_);
  }
  // A position without a committed offset may be of a log that is gone (the topic was made anew),
  // with hints that nobody has read.
  const bool orphan = end_ && !assigned_.committed && found;
  if (orphan) ports_.metrics.NothingCommitted(assigned_.partition, assigned_.low);
  const bool usable = !tail_lost && !orphan && found && found->offset >= assigned_.low;
  const int64_t start =
      usable ? std::min(std::max(expected_, assigned_.low), found->offset) : StartAfterDrop();
  saved_ = {generation_, start, {}, 0};
  if (usable) {
    saved_.begun = std::move(found->begun);
    saved_.as_of = found->as_of;
  }
  stage_ = Stage::kResetting;
  awaited_ = ++ids_;
  using Timelines = ResetRange::Timelines;
  const Timelines timelines = !usable              ? Timelines::kDrop
                              : claimed.index != 0 ? Timelines::kLeave
                                                   : Timelines::kIndex;
  index_ = timelines == Timelines::kLeave ? claimed.index : epoch();
  if (timelines == Timelines::kDrop) forgotten_ = true;
  ports_.timelines.Submit(ResetRange{awaited_, assigned_.partition, epoch(), timelines, saved_});
}

bool RangeTakeover::On(const RangeReset& reply, Now now, uint64_t random) {
  if (stage_ != Stage::kResetting || reply.id != awaited_) return false;
  if (!reply.status.done() || reply.needs_claim) {
    Failed(reply.status, now, random);
    return true;
  }
  ready_since_ = now.mono;
  stage_ = Stage::kReady;
  attempts_ = 0;
  forgotten_ = false;
  if (loss_) ports_.metrics.RedisLost(assigned_.partition, *loss_);
  loss_.reset();
  end_.reset();
  seek_ = saved_.offset;
  const int64_t replayed = std::max<int64_t>(expected_ - saved_.offset, 0);
  ports_.metrics.RangeReady(replayed, reply.dropped);
  return true;
}

void RangeTakeover::Save(int64_t offset, std::vector<BegunHints> begun, UnixMs as_of) {
  FANLINE_CHECK(ready() && !saving(), "one position at a time, of a range that is ready");
  // A failed save may have been applied. It is finished first, or its value would look like a
  // rollback.
  if (!unsure_) {
    saving_next_ = {generation_, offset, std::move(begun), as_of != 0 ? as_of : saved_.as_of};
  }
  saving_ = ++ids_;
  ports_.timelines.Submit(
      SavePosition{saving_, assigned_.partition, epoch(), saved_, saving_next_});
}

bool RangeTakeover::On(const PositionSaved& reply, Now now, uint64_t random) {
  if (saving_ == 0 || reply.id != saving_) return false;
  saving_ = 0;
  if (reply.mismatch && guards_.positions) {
    Again(TakeoverCause::kRolledBack, now, random);
  } else if (reply.needs_claim) {
    Again(CauseOf(reply.status), now, random);
  } else {
    unsure_ = !reply.status.done();
    if (reply.status.done()) saved_ = saving_next_;
  }
  return true;
}

}  // namespace fanline::pusher
