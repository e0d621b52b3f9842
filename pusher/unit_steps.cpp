// What happens to one unit, from the lane's head until it is finished. Units are independent of
// each other. Each knows its stage. Every reply moves exactly one unit, except a batch's reply,
// which moves all units that share the batch.
#include <algorithm>
#include <iterator>

#include "pusher/pusher.h"

namespace fanline::pusher {

using Stage = Unit::Stage;

namespace {

// The queue in which the unit waits. Units of one way wait together, so that the first of them
// waits for nothing that the others do not need. In Redis a single range may be away, because its
// node is away or its slot is moving to another node. So each range has a queue of its own.
std::string QueueOf(const Status& status, const Unit& unit) {
  std::string queue = status.resource;
  if (queue == "redis") queue += ", range " + std::to_string(unit.range);
  return queue + ", from shard " + std::to_string(unit.way.shard) + " to node " +
         std::to_string(unit.way.node);
}

}  // namespace

Unit* Pusher::Find(uint64_t id) {
  const auto found = units_.find(id);
  return found == units_.end() ? nullptr : &found->second;
}

// ---- starting -------------------------------------------------------------------------------

void Pusher::StartUnits(Now now) {
  if (!taking_ || ranges_.empty()) return;
  places_.Refill(now.mono);
  size_t idle = 0;
  auto at = ranges_.upper_bound(last_started_);
  while (idle < ranges_.size()) {
    if (at == ranges_.end()) at = ranges_.begin();
    const bool started = at->second->takeover.ready() && TakeTurn(at->first, *at->second, now);
    idle = started ? 0 : idle + 1;
    last_started_ = at->first;
    ++at;
  }
}

bool Pusher::HasRoom(const Way& way) const {
  return places_.has_room(way) && posts_.waiting_readers(way.node) < limits_.waiting_readers;
}

// The next shard with a runnable lane and a place for it.
std::optional<Shard> Pusher::NextShard(const Owned& owned) const {
  const uint32_t node = owned.takeover.node();
  const uint32_t shards = setup_.shards.shards();
  for (uint32_t step = 1; step <= shards; ++step) {
    const Shard shard = (owned.last_started + step) % shards;
    if (!owned.lanes.runnable(shard)) continue;
    if (Gives({shard, node})) return shard;
  }
  return std::nullopt;
}

// Starts units of the range until it has had as many as the range with most. A range that lags
// shares few authors with the ranges beside it, so it is rarely started beside them and catches up
// here. Its credit is at most units_in_flight, even if it could not start for long.
bool Pusher::TakeTurn(Range range, Owned& owned, Now now) {
  const uint64_t owed = owned.lanes.runnable() ? limits_.units_in_flight : 0;
  owned.started = std::max(owned.started + owed, most_started_) - owed;
  bool started = false;
  while (StartOne(range, owned, now)) {
    started = true;
    if (owned.started >= most_started_) break;
  }
  return started;
}

// Starts the head of the range's next runnable lane, and the lanes of the same author in the ranges
// beside it: neighbouring ranges of one author are one seek in MariaDB (follower_pages.h). If each
// range took only its own next lane, ranges that a backlog has brought out of step would stay so,
// and every author would cost one seek per range.
bool Pusher::StartOne(Range range, Owned& owned, Now now) {
  const auto shard = NextShard(owned);
  if (!shard || (isolating(owned) && OneIsTried())) return false;
  owned.last_started = *shard;
  const UserId author = owned.lanes.next(*shard);
  StartUnit(range, owned, author, now);
  const auto at = ranges_.find(range);
  for (auto up = std::next(at); up != ranges_.end(); ++up) {
    if (!StartBeside(up->first, *up->second, author, now)) break;
  }
  for (auto down = std::make_reverse_iterator(at); down != ranges_.rend(); ++down) {
    if (!StartBeside(down->first, *down->second, author, now)) break;
  }
  return true;
}

// A range that is not ready has no lanes. One that isolates takes its own turns (OneIsTried).
bool Pusher::StartBeside(Range range, Owned& owned, UserId author, Now now) {
  if (isolating(owned) || !owned.lanes.runnable(author)) return false;
  if (!Gives({setup_.shards.ShardOf(author), owned.takeover.node()})) return false;
  StartUnit(range, owned, author, now);
  return true;
}

// Starts the head of the author's lane as a unit.
void Pusher::StartUnit(Range range, Owned& owned, UserId author, Now now) {
  const bool one_by_one = isolating(owned);
  const size_t syncs = std::max<size_t>(limits_.syncs_in_flight, syncs_.calls()) - syncs_.calls();
  most_started_ = std::max(most_started_, ++owned.started);
  Unit taken = owned.lanes.Take(author, one_by_one, syncs, posts_.begun(range));
  taken.id = ++ids_;
  taken.range = range;
  taken.epoch = owned.takeover.epoch();
  taken.way.node = owned.takeover.node();
  taken.place = places_.Take(taken.way, now.mono);
  Unit& unit = units_.emplace(taken.id, std::move(taken)).first->second;
  one_by_one ? Enter(unit, Stage::kMarkingStart) : Begin(unit);
}

// Notes in MariaDB that this hint is being tried, or not any more.
void Pusher::Mark(Unit& unit, bool tried) {
  unit.marked = tried;
  ports_.owners.Submit(SaveStart{.id = unit.id,
                                 .range = unit.range,
                                 .epoch = unit.epoch,
                                 .offset = tried ? unit.hints.front().record.offset : -1,
                                 .start = ranges_.at(unit.range)->takeover.start().token});
}

// The hint is blamed if the third crash came while it was tried alone. But it may not have been a
// crash: the earlier owner may have been told to go, or have hung, and may be about to say so.
void Pusher::OnMarked(Unit& unit, const RangeOwned& reply, Now now) {
  if (!reply.suspected || reply.crashes < 3) return Begin(unit);
  if (ranges_.at(unit.range)->takeover.ready_for(now) < limits_.last_words) {
    return Park(unit, "the last words of an owner", now);
  }
  unit.reason = "the worker crashed on this hint again and again";
  Quarantine(unit);
}

void Pusher::Begin(Unit& unit) {
  if (unit.hints.front().hint()) {
    Enter(unit, Stage::kRunning);
  } else {
    Quarantine(unit);
  }
}

// Asks for what the stage needs. A stage that is entered again after a failure begins anew.
void Pusher::Enter(Unit& unit, Stage stage) {
  unit.stage = stage;
  const ReceivedHint& first = unit.hints.front();
  switch (stage) {
    case Stage::kClearingStart:
    case Stage::kMarkingStart:
      return Mark(unit, stage == Stage::kMarkingStart);
    case Stage::kRunning:
      return unit.is_sync() ? syncs_.Begin(unit) : posts_.Begin(unit, PageOf(unit));
    case Stage::kDropping:
      // The author's followers may be what cannot be read, so all timelines of the range are
      // dropped.
      if (!unit.is_sync()) return ranges_.at(unit.range)->walk.Need(unit.id);
      ports_.timelines.Submit(DropTimeline{unit.id, unit.range, unit.epoch,
                                           std::get<Hint::Sync>(first.hint()->what).reader});
      return;
    case Stage::kDeadLettering:
      const ReceivedHint& hint = unit.hints.at(unit.dead_lettered);
      ports_.dead_letters.Submit({unit.id, {hint.record, "pusher", unit.ReasonOf(hint)}});
      return;
  }
}

// A unit is known to need a large page only once it is behind its first one.
uint32_t Pusher::PageOf(Unit& unit) {
  const bool large = unit.paging && places_.Widen(unit.place);
  return large ? limits_.followers_per_page
               : std::min(limits_.followers_on_first_page, limits_.followers_per_page);
}

// ---- ends -----------------------------------------------------------------------------------

void Pusher::Advance(const std::optional<RunStep>& step, Now now) {
  Unit* unit = step ? Find(step->unit) : nullptr;
  if (unit == nullptr) return;
  if (step->needs_claim) return Lost(unit->range, step->status, now);
  if (step->status.never()) return Never(*unit, step->status.message);
  if (step->status.later()) return Later(*unit, step->status, now);
  parking_.GotThrough(unit->id);
  if (step->finished) return Finish(*unit, now);
  unit->paging = true;
  // A drain leaves the rest to the next owner.
  taking_ ? Enter(*unit, Stage::kRunning) : Park(*unit, "the next owner", now);
}

void Pusher::Finish(Unit& unit, Now now) {
  if (unit.marked) return Enter(unit, Stage::kClearingStart);
  Owned& owned = *ranges_.at(unit.range);
  for (const ReceivedHint& hint : unit.hints) {
    owned.ledger.Finished(hint.record.offset);
    const Duration since =
        std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - hint.record.timestamp));
    ports_.metrics.HintDone(unit.is_sync(), since);
  }
  owned.lanes.Finished(unit);
  units_.erase(unit.id);
}

void Pusher::Later(Unit& unit, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  Park(unit, QueueOf(status, unit), now);
}

void Pusher::Park(Unit& unit, const std::string& queue, Now now) {
  parking_.Park(queue, unit.id, now.mono, random_());
  unit.place = {};
  ranges_.at(unit.range)->lanes.SetParked(unit, true);
}

// Parked units go first. Otherwise lanes that have not begun would take every place that becomes
// free.
void Pusher::TryParked(Now now) {
  if (!taking_) return;
  const auto room = [this](uint64_t unit) { return HasRoom(unit); };
  while (const auto id = parking_.Take(now.mono, room)) {
    Unit& unit = units_.at(*id);
    unit.place = places_.Take(unit.way, now.mono);
    ranges_.at(unit.range)->lanes.SetParked(unit, false);
    Enter(unit, unit.stage);
  }
}

void Pusher::Never(Unit& unit, const std::string& reason) {
  parking_.GotThrough(unit.id);
  if (unit.hints.size() == 1 && (unit.alone || unit.is_sync())) {
    unit.reason = reason;
    Quarantine(unit);
    return;
  }
  const auto left = units_.extract(unit.id);
  ranges_.at(unit.range)->lanes.TakeApart(std::move(unit));
}

void Pusher::Quarantine(Unit& unit) {
  for (const ReceivedHint& hint : unit.hints) ports_.metrics.HintQuarantined(unit.ReasonOf(hint));
  Enter(unit, setup_.guards.quarantine_drops ? Stage::kDropping : Stage::kDeadLettering);
}

void Pusher::StartWalks(Now now) {
  for (auto& [range, owned] : ranges_) {
    if (!owned->walk.due(now)) continue;
    ports_.timelines.Submit(owned->walk.Begin(++ids_, range, owned->takeover.epoch()));
  }
}

}  // namespace fanline::pusher
