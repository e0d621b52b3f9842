// Ranges and inputs; what happens to a single unit is in unit_steps.cpp.
#include "pusher/pusher.h"

#include <algorithm>
#include <utility>

#include "fanline/check.h"
#include "fanline/misconfigured.h"

namespace fanline::pusher {

Pusher::Pusher(Ports ports, Setup setup, Limits limits)
    : ports_(ports),
      setup_(setup),
      limits_(limits),
      random_(setup.seed),
      settlements_(ports.owners, limits.backoff, ids_),
      parking_(limits.probe, std::max(1u, limits.units_in_flight / 4)) {}

Pusher::~Pusher() = default;

Progress Pusher::Step(std::span<Input> inputs, Now now) {
  Progress progress;
  for (Input& input : inputs) {
    std::visit([&](auto& value) { On(value, now); }, input);
  }
  TryParked(now);
  TendRanges(now, progress.orders);
  StartUnits(now);
  StartWalks(now);
  SendBatches();
  ShowNewer();
  progress.next_timer = NextTimer();
  ports_.metrics.Buffered(hints_open(), units_.size(), ranges_ready());
  ShowHeld();
  return progress;
}

// ---- inputs ---------------------------------------------------------------------------------

void Pusher::On(PartitionAssigned& assigned, Now now) {
  // A partition that was added at run time is no range: it has no buckets, and hints in it mean
  // that somebody cuts the buckets otherwise than we do.
  if (assigned.partition < 0 ||
      static_cast<uint32_t>(assigned.partition) >= setup_.layout.partitions()) {
    throw Misconfigured(
        "partition " + std::to_string(assigned.partition) +
        " of the tasks topic was assigned, but the installation says " +
        std::to_string(setup_.layout.partitions()) +
        " ranges: its partitions must not be added to. Kafka takes none away again: make a topic "
        "with the right number, under a new topic generation");
  }
  PartitionRevoked before{assigned.partition};
  On(before, now);
  auto owned = std::make_unique<Owned>(
      RangeTakeover::Ports{ports_.owners, ports_.timelines, ports_.metrics}, limits_, setup_, ids_);
  owned->assigned = assigned;
  ranges_[assigned.partition] = std::move(owned);
}

void Pusher::On(PartitionRevoked& revoked, Now now) {
  const auto found = ranges_.find(revoked.partition);
  if (found == ranges_.end()) return;
  // Told to go is no crash: a rebalance takes every range from every member.
  Settle(*found->second, revoked.partition, now);
  DropWork(*found->second, revoked.partition);
  ranges_.erase(found);
}

void Pusher::On(Record& record, Now now) {
  const auto found = ranges_.find(record.partition);
  if (found == ranges_.end() || !found->second->feeding || !taking_) return;
  Owned& owned = *found->second;

  ReceivedHint hint{std::move(record), std::nullopt};
  auto decoded = DecodeHint(hint.record.value);
  if (auto* refused = std::get_if<Rejection>(&decoded)) {
    if (refused->newer) return Park(owned, hint.record.offset, std::move(refused->reason), now);
  } else {
    hint.decoded = std::get<Hint>(decoded);
  }
  if (!owned.ledger.Received(hint.record.offset)) return;  // seen before
  owned.newer.reset();
  const UserId author =
      hint.decoded ? hint.decoded->author : UserId{};  // undecodable: a lane of its own
  ports_.metrics.HintReceived(hint.decoded &&
                              std::holds_alternative<Hint::Sync>(hint.decoded->what));
  Lane& lane = owned.lanes[author];
  lane.waiting.push_back(std::move(hint));
  owned.parked_hints += lane.parked;
  if (!lane.queued && (lane.active == 0 || !limits_.lanes_in_order)) {
    lane.queued = true;
    owned.runnable.push_back(author);
  }
}

void Pusher::On(TruthReply& reply, Now now) {
  if (auto* page = std::get_if<PostPage>(&reply)) {
    OnPage(*page, now);
  } else {
    OnSyncTruth(std::get<SyncTruth>(reply), now);
  }
}

template <typename Reply>
bool Pusher::OfTakeover(const Reply& reply, Now now) {
  for (auto& [range, owned] : ranges_) {
    const bool was_ready = owned->takeover.ready();
    if (!owned->takeover.On(reply, now, random_())) continue;
    if (was_ready && !owned->takeover.ready()) DropWork(*owned, range);
    if (!was_ready && owned->takeover.ready()) owned->ready_since = now.mono;
    return true;
  }
  return false;
}

void Pusher::On(TimelineReply& reply, Now now) {
  struct Visitor {
    Pusher& self;
    Now now;
    void operator()(RangeClaimed& claimed) { self.OfTakeover(claimed, now); }
    void operator()(RangeReset& reset) {
      if (self.OfTakeover(reset, now)) return;
      self.OnWalked(reset, now);
    }
    void operator()(PositionSaved& saved) { self.OfTakeover(saved, now); }
    void operator()(BatchWritten& written) { self.OnBatch(written, now); }
    void operator()(TimelineRead& read) { self.OnTimelineRead(read, now); }
    void operator()(SyncApplied& applied) { self.OnSyncApplied(applied, now); }
    void operator()(TimelineDropped& dropped) {
      self.OnDropped(dropped.id, dropped.status, dropped.needs_claim, now);
    }
    void operator()(PartMarked& marked) { self.OnPartMarked(marked, now); }
  };
  std::visit(Visitor{*this, now}, reply);
}

void Pusher::On(RangeOwned& reply, Now now) {
  if (OfTakeover(reply, now)) return;
  if (const auto answered = settlements_.On(reply, now, random_())) {
    if (!answered->carried_out) return;
    const auto found = ranges_.find(answered->carried_out->range);
    if (found == ranges_.end()) return;
    found->second->takeover.Settled(*answered->carried_out);
    return;
  }
  Unit* unit = Find(reply.id);
  if (unit == nullptr || unit->stage != Unit::Stage::kMarkingStart) return;
  if (!reply.status.done()) {
    Later(*unit, reply.status, now);
  } else if (reply.refused) {
    Redo(unit->range, TakeoverCause::kFenced, now);
  } else {
    Begin(*unit);
  }
}

void Pusher::On(DeadLetterAppended& reply, Now now) {
  Unit* unit = Find(reply.id);
  if (unit == nullptr) return;
  if (!reply.status.done()) {
    Later(*unit, reply.status, now);
  } else if (++unit->dead_lettered < unit->hints.size()) {
    parking_.GotThrough(unit->id);
    SendToDeadLetters(*unit);
  } else {
    Finish(*unit, now);
  }
}

// ---- ranges ---------------------------------------------------------------------------------

// Forgets all work on a range. What is under way may still arrive in Redis: the epoch refuses it.
void Pusher::DropWork(Owned& owned, Range range) {
  std::erase_if(units_, [range](const auto& entry) { return entry.second.range == range; });
  parking_.Forget([this](uint64_t unit) { return !units_.contains(unit); });
  owned.units = 0;
  owned.parked_hints = 0;
  owned.batcher.Clear();
  owned.lanes.clear();
  owned.runnable.clear();
  owned.full.reset();
  owned.walk = {};
  owned.newer.reset();
  owned.feeding = false;
}

// The range stands still in front of the hint; what is behind it is asked for again with it. Hints
// in front of it are finished and saved meanwhile.
void Pusher::Park(Owned& owned, int64_t offset, std::string why, Now now) {
  const uint32_t attempts = owned.newer ? owned.newer->attempts + 1 : 1;
  owned.newer = {offset, std::move(why), attempts,
                 now.mono + limits_.backoff.Delay(attempts, random_())};
  owned.feeding = false;
}

// Redis refused, or may not be what it was: nothing read so far may be written any more.
void Pusher::Redo(Range range, TakeoverCause cause, Now now) {
  const auto found = ranges_.find(range);
  if (found == ranges_.end()) return;
  found->second->takeover.Again(cause, now, random_());
  DropWork(*found->second, range);
}

void Pusher::TendRanges(Now now, ConsumerOrders& orders) {
  settlements_.OnTimer(now);
  if (!taking_) LeaveUnready(now);
  for (auto& [range, owned] : ranges_) {
    if (owned->assigned && !settlements_.open(range)) {
      owned->takeover.Start(*std::exchange(owned->assigned, std::nullopt), now);
    }
    owned->takeover.OnTimer(now);
    if (const auto seek = owned->takeover.TakeSeek()) {
      owned->ledger.Reset(*seek);
      owned->feeding = true;
      owned->flowing = true;
      owned->save_at = now.mono + limits_.save_position_every;
      owned->check_at = now.mono + limits_.check_position_every;
      orders.seek.push_back({range, *seek});
    }
    DirectFlow(*owned, range, now, orders);
    if (!owned->takeover.ready()) continue;
    // A start that lasted, or that ends because we were told to go, was no crash.
    const bool leaving = !taking_ && owned->units == 0;
    if (leaving || Lasted(*owned, now)) Settle(*owned, range, now);

    if (owned->takeover.saved() != owned->ordered) {
      owned->ordered = owned->takeover.saved();
      orders.commit.push_back({range, owned->ordered});
    }
    SavePosition(*owned, now);
  }
}

// Once for each epoch: settlements_ sees to it that it arrives.
void Pusher::Settle(Owned& owned, Range range, Now now) {
  const RangeTakeover& takeover = owned.takeover;
  if (takeover.asked() == 0 && owned.told == takeover.epoch()) return;
  owned.told = takeover.epoch();
  if (Lasted(owned, now)) {
    settlements_.Lasted(range, takeover.start());
  } else {
    settlements_.Leave(range, takeover.start(), takeover.asked());
  }
}

// A drain has nothing to finish in them, and begins no takeover.
void Pusher::LeaveUnready(Now now) {
  for (auto at = ranges_.begin(); at != ranges_.end();) {
    auto& [range, owned] = *at;
    if (owned->takeover.ready()) {
      ++at;
      continue;
    }
    Settle(*owned, range, now);
    DropWork(*owned, range);
    at = ranges_.erase(at);
  }
}

bool Pusher::Lasted(const Owned& owned, Now now) const {
  return owned.takeover.ready() && now.mono - owned.ready_since >= limits_.settle_after;
}

// Nothing is read from the log that could not be kept: while the range is not ready, while it holds
// all it may, and while a newer pusher is waited for. Else a Redis that is away would have the log
// read to its end for nothing, and the lag look like none.
void Pusher::DirectFlow(Owned& owned, Range range, Now now, ConsumerOrders& orders) {
  if (owned.newer && !owned.feeding && taking_ && owned.newer->again_at <= now.mono) {
    owned.feeding = true;
    owned.flowing = true;
    orders.seek.push_back({range, owned.newer->offset});
    return;
  }
  owned.full = BoundReached(owned, owned.full ? 2 : 1);
  const bool flows = owned.feeding && !owned.full;
  if (flows == owned.flowing) return;
  owned.flowing = flows;
  (flows ? orders.resume : orders.pause).push_back(range);
}

// Which of the bounds of limits.h the range has reached; `share` = 2: passed half of it.
std::optional<PauseCause> Pusher::BoundReached(const Owned& owned, uint32_t share) const {
  const size_t workable = owned.ledger.open() - owned.parked_hints;
  const auto reached = [share](size_t held, uint32_t bound) {
    return share == 1 ? held >= bound : held > bound / share;
  };
  if (reached(workable, limits_.buffered_hints_per_range)) return PauseCause::kBuffered;
  if (reached(owned.parked_hints, limits_.parked_hints_per_range)) return PauseCause::kParked;
  if (reached(owned.ledger.span(), limits_.span_per_range)) return PauseCause::kSpan;
  return std::nullopt;
}

void Pusher::SavePosition(Owned& owned, Now now) {
  if (owned.takeover.saving()) return;
  const int64_t applied = owned.ledger.committable();
  const bool moved = applied > owned.takeover.saved();
  const bool draining = !taking_ && owned.units == 0;
  // Also when nothing moved, now and then: that is how a flushed or rolled-back Redis is noticed
  // in a quiet hour.
  if (!(moved && (draining || now.mono >= owned.save_at)) && now.mono < owned.check_at) return;
  owned.save_at = now.mono + limits_.save_position_every;
  owned.check_at = now.mono + limits_.check_position_every;
  owned.takeover.Save(applied);
}

void Pusher::SendBatches() {
  while (batches_in_flight_ < limits_.batches_in_flight) {
    // The next range, round robin, that has something to write.
    auto at = ranges_.upper_bound(last_sent_);
    size_t looked = 0;
    for (; looked < ranges_.size(); ++looked, ++at) {
      if (at == ranges_.end()) at = ranges_.begin();
      if (!at->second->batcher.empty()) break;
    }
    if (looked == ranges_.size()) return;
    auto& [range, owned] = *at;
    last_sent_ = range;
    SentBatch sent{range, {}};
    TimelineBatch batch = owned->batcher.Cut(&sent.shares);
    batch.id = ++ids_;
    batch.range = range;
    batch.epoch = owned->takeover.epoch();
    ports_.metrics.BatchSent(batch.writes.size(), batch.adds.size() + batch.removes.size());
    batches_.emplace(batch.id, std::move(sent));
    ++batches_in_flight_;
    ports_.timelines.Submit(std::move(batch));
  }
}

// After the second crash one hint at a time, its offset saved before it starts.
bool Pusher::isolating(const Owned& owned) const { return owned.takeover.start().starts >= 3; }

// ---- what the outside sees ------------------------------------------------------------------

bool Pusher::drained() const {
  if (!units_.empty() || !settlements_.empty()) return false;
  return std::all_of(ranges_.begin(), ranges_.end(), [](const auto& entry) {
    const Owned& owned = *entry.second;
    return owned.takeover.ready() && owned.told == owned.takeover.epoch() &&
           owned.ledger.committable() <= owned.takeover.saved() && !owned.takeover.saving();
  });
}

size_t Pusher::ranges_ready() const {
  return static_cast<size_t>(std::count_if(ranges_.begin(), ranges_.end(), [](const auto& entry) {
    return entry.second->takeover.ready();
  }));
}

void Pusher::ShowNewer() const {
  size_t ranges = 0;
  std::string why;
  for (const auto& [range, owned] : ranges_) {
    if (!owned->newer) continue;
    if (++ranges == 1) why = owned->newer->why;
  }
  ports_.metrics.AwaitingUpgrade(ranges, why);
}

void Pusher::ShowHeld() const {
  Metrics::Held held;
  held.units_parked = parking_.size();
  for (const auto& [range, owned] : ranges_) {
    held.hints_parked += owned->parked_hints;
    held.longest_span = std::max<uint64_t>(held.longest_span, owned->ledger.span());
    if (owned->full) ++held.ranges_paused[static_cast<size_t>(*owned->full)];
  }
  ports_.metrics.Holding(held);
}

size_t Pusher::hints_open() const {
  size_t open = 0;
  for (const auto& [range, owned] : ranges_) open += owned->ledger.open();
  return open;
}

std::optional<Time> Pusher::NextTimer() const {
  std::optional<Time> next;
  const auto earliest = [&next](std::optional<Time> time) { next = Earlier(next, time); };
  if (HasRoom()) {  // else a reply comes first
    earliest(parking_.timer());
    const bool lanes_wait = std::any_of(ranges_.begin(), ranges_.end(), [](const auto& entry) {
      return !entry.second->runnable.empty();
    });
    if (full_since_ && taking_ && lanes_wait) earliest(*full_since_ + limits_.refill_within);
  }
  earliest(settlements_.timer());
  for (const auto& [range, owned] : ranges_) {
    earliest(owned->takeover.timer());
    if (owned->walk.waiting > 0 && owned->walk.id == 0) earliest(owned->walk.not_before);
    if (owned->newer && !owned->feeding && taking_) earliest(owned->newer->again_at);
    if (!owned->takeover.ready() || owned->takeover.saving()) continue;
    const bool moved = owned->ledger.committable() > owned->takeover.saved();
    earliest(moved ? owned->save_at : owned->check_at);
  }
  return next;
}

}  // namespace fanline::pusher
