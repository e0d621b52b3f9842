// Inputs and ranges. What happens to a single unit is in unit_steps.cpp.
#include "pusher/pusher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fanline/base/check.h"
#include "fanline/base/misconfigured.h"
#include "fanline/model/headers.h"

namespace fanline::pusher {

namespace {

// Whether Redis refused the request because another owner has claimed the range.
template <typename Value>
bool Fenced(const Value& input) {
  if constexpr (requires { input.needs_claim; }) {
    return input.needs_claim && CauseOf(input.status) == TakeoverCause::kFenced;
  }
  return false;
}

}  // namespace

Pusher::Pusher(Ports ports, Setup setup, Limits limits)
    : ports_(ports),
      setup_(setup),
      limits_(limits),
      random_(setup.seed),
      settlements_(ports.owners, limits.takeover, ids_),
      places_({limits.units_in_flight, limits.large_pages_in_flight, limits.whole_ways},
              limits.refill_within),
      parking_(limits.probe, std::max(1u, limits.units_in_flight / 4)),
      posts_({ports.truth, ports.timelines, ports.weights, ports.metrics, ids_}, limits_,
             {setup.layout.partitions(), setup.shards}, setup.guards,
             setup.own_posts ? std::optional(setup.layout) : std::nullopt),
      syncs_({ports.truth, ports.timelines, ports.weights, ports.metrics, ids_},
             limits.window.window) {}

Progress Pusher::Step(std::span<Input> inputs, Now now) {
  Progress progress;
  for (Input& input : inputs) {
    std::visit(
        [&](auto& value) {
          // Counted before the owner of the input is looked up: the range may be gone by now.
          if (Fenced(value)) ports_.metrics.WriteFenced();
          On(value, now);
        },
        input);
  }
  TryParked(now);
  TendRanges(now, progress.orders);
  StartUnits(now);
  StartWalks(now);
  posts_.SendBatches();
  Show();
  progress.next_timer = NextTimer();
  return progress;
}

// ---- inputs ---------------------------------------------------------------------------------

void Pusher::On(PartitionAssigned& assigned, Now now) {
  // A partition that was added at run time is not a range, because it has no buckets. Hints in it
  // mean that another program divides the buckets differently.
  if (assigned.partition < 0 ||
      static_cast<uint32_t>(assigned.partition) >= setup_.layout.partitions()) {
    throw Misconfigured(
        "partition " + std::to_string(assigned.partition) +
        " of the tasks topic was assigned, but the installation says " +
        std::to_string(setup_.layout.partitions()) +
        " ranges: its partitions must not be added to. Kafka takes none away again: stop all "
        "programs, delete the topic, run feedctl topics create and start them again. Live "
        "timelines are rebuilt");
  }
  PartitionRevoked before{assigned.partition};
  On(before, now);
  auto& owned = ranges_[assigned.partition];
  owned = std::make_unique<Owned>(assigned.partition, ports_, setup_, limits_, ids_);
  owned->assigned = assigned;
}

void Pusher::On(PartitionRevoked& revoked, Now now) {
  const auto found = ranges_.find(revoked.partition);
  if (found == ranges_.end()) return;
  // A revocation is not a crash: a rebalance takes every range from every member.
  Leave(*found->second, revoked.partition, now);
  // The next owner goes on from this position if it reaches Redis before that owner's claim.
  // Between a takeover and its seek the ledger is still the one from before, so nothing is saved.
  Owned& owned = *found->second;
  const bool saves = owned.inflow.open() && owned.takeover.ready() && !owned.takeover.saving();
  if (saves && Moved(owned, revoked.partition)) {
    Save(owned, revoked.partition);
  }
  DropWork(*found->second, revoked.partition);
  ranges_.erase(found);
}

// An end that is lower than the one before means that the log lost its tail.
void Pusher::On(LogEndSeen& seen, Now now) {
  const auto found = ranges_.find(seen.partition);
  if (found == ranges_.end()) return;
  auto& ends = found->second->ends;
  if (!ends.empty() && seen.end < ends.back().offset) ends.clear();
  if (ends.size() == limits_.ends_kept) return;
  const auto ago = std::chrono::ceil<std::chrono::milliseconds>(now.mono - seen.asked_at);
  ends.push_back({seen.end, now.unix_ms - ago.count()});
}

void Pusher::On(Record& record, Now now) {
  const auto found = ranges_.find(record.partition);
  if (found == ranges_.end() || !found->second->inflow.open() || !taking_) return;
  Owned& owned = *found->second;

  const int64_t offset = record.offset;
  auto decoded = DecodeHint(record.value);
  auto* refused = std::get_if<Rejection>(&decoded);
  if (refused && refused->newer && setup_.guards.newer_awaited) {
    return owned.inflow.StandBefore(offset, std::move(refused->reason), now, random_());
  }
  if (!owned.ledger.Received(offset)) return;  // seen before
  owned.inflow.Took();
  const Hint* hint = std::get_if<Hint>(&decoded);
  ports_.metrics.HintReceived(hint && std::holds_alternative<Hint::Sync>(hint->what));
  // Keeps only headers that travel on: the hint's writer may have added more, and ranges hold many
  // hints.
  if (!record.headers.empty()) record.headers = TravellingHeaders(record.headers);
  owned.lanes.Add({std::move(record), std::move(decoded)});
}

template <typename Reply>
bool Pusher::OfTakeover(const Reply& reply, Now now) {
  for (auto& [range, owned] : ranges_) {
    const bool was_ready = owned->takeover.ready();
    if (!owned->takeover.On(reply, now, random_())) continue;
    if (was_ready && !owned->takeover.ready()) DropWork(*owned, range);
    return true;
  }
  return false;
}

void Pusher::On(RangeReset& reset, Now now) {
  if (OfTakeover(reset, now)) return;
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), [&](const auto& entry) {
    return entry.second->walk.under_way(reset.id);
  });
  if (found == ranges_.end()) return;  // its range was lost meanwhile
  if (reset.needs_claim) return Lost(found->first, reset.status, now);
  if (!reset.status.done()) ports_.metrics.Parked(reset.status.resource);
  QuarantineWalk& walk = found->second->walk;
  for (const uint64_t id : walk.Ended(reset.status, limits_.backoff, now, random_())) {
    Enter(units_.at(id), Unit::Stage::kDeadLettering);
  }
}

void Pusher::On(BatchWritten& written, Now now) {
  for (const RunStep& step : posts_.On(written, now)) Advance(step, now);
}

void Pusher::On(TimelineDropped& dropped, Now now) {
  if (dropped.status.never()) dropped.status = Status::Later("redis", dropped.status.message);
  Advance(syncs_.On(dropped), now);  // a sync may have met a timeline that is being built
  Unit* unit = Find(dropped.id);
  if (unit != nullptr && dropped.status.done() && !dropped.needs_claim) {
    Enter(*unit, Unit::Stage::kDeadLettering);
  } else {
    Advance(RunStep{dropped.id, dropped.status, dropped.needs_claim}, now);
  }
}

void Pusher::On(RangeOwned& reply, Now now) {
  if (OfTakeover(reply, now)) return;
  if (const auto settled = settlements_.On(reply, now, random_())) {
    // Learned here because no mark may follow: hints are tried one by one, and the first may be
    // parked.
    const auto found = ranges_.find(*settled);
    if (reply.status.done() && found != ranges_.end()) found->second->takeover.Learn(reply);
    return;
  }
  Unit* unit = Find(reply.id);
  if (unit == nullptr) return;
  if (!reply.status.done()) return Later(*unit, reply.status, now);
  if (reply.refused) return Redo(unit->range, TakeoverCause::kFenced, now);
  ranges_.at(unit->range)->takeover.Learn(reply);
  if (unit->stage == Unit::Stage::kMarkingStart) return OnMarked(*unit, reply, now);
  parking_.GotThrough(unit->id);
  Finish(*unit, now);
}

void Pusher::On(DeadLetterAppended& reply, Now now) {
  Unit* unit = Find(reply.id);
  if (unit == nullptr) return;
  const bool taken = reply.status.done() || !setup_.guards.letters_before_commit;
  if (!taken) return Later(*unit, reply.status, now);
  parking_.GotThrough(unit->id);
  if (++unit->dead_lettered < unit->hints.size()) {
    Enter(*unit, Unit::Stage::kDeadLettering);
  } else {
    Finish(*unit, now);
  }
}

// ---- ranges ---------------------------------------------------------------------------------

// Forgets all work on a range. Writes under way may still arrive in Redis, which refuses them by
// their epoch.
void Pusher::DropWork(Owned& owned, Range range) {
  posts_.Forget(range);
  syncs_.Forget(range);
  std::erase_if(units_, [range](const auto& entry) { return entry.second.range == range; });
  parking_.Forget([this](uint64_t unit) { return !units_.contains(unit); });
  owned.inflow.Stop();
  owned.lanes.Clear();
  owned.walk = {};
}

// Redis no longer takes us for the range's owner.
void Pusher::Lost(Range range, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  Redo(range, CauseOf(status), now);
}

// Takes the range over again: Redis refused, or may have lost data. Nothing that was read so far
// may still be written.
void Pusher::Redo(Range range, TakeoverCause cause, Now now) {
  const auto found = ranges_.find(range);
  if (found == ranges_.end()) return;
  found->second->takeover.Again(cause, now, random_());
  DropWork(*found->second, range);
}

void Pusher::TendRanges(Now now, ConsumerOrders& orders) {
  settlements_.OnTimer(now);
  if (!taking_) LeaveUnready(now);
  const Inflow::Process all = AllRanges();
  for (auto& [range, owned] : ranges_) {
    if (owned->assigned && !settlements_.open(range)) {
      owned->takeover.Start(*std::exchange(owned->assigned, std::nullopt), random_(), now);
    }
    owned->takeover.OnTimer(now);
    if (const auto seek = owned->takeover.TakeSeek()) {
      owned->ledger.Reset(*seek);
      owned->as_of = 0;
      posts_.TakeOver(range, owned->takeover.begun());
      owned->inflow.Seek(*seek, orders);
      owned->save_at = now.mono + limits_.save_position_every;
      owned->check_at = now.mono + limits_.check_position_every;
      CountWays();
    }
    owned->inflow.Direct(owned->ledger, owned->lanes, all, taking_, now, orders);
    if (!owned->takeover.ready()) continue;
    if (!taking_ && owned->lanes.working() == 0) {
      Leave(*owned, range, now);
    } else if (HasLasted(*owned, now) && owned->lasted != owned->takeover.epoch()) {
      owned->lasted = owned->takeover.epoch();
      settlements_.Lasted(range, owned->takeover.start());
    }

    if (owned->takeover.saved() != owned->ordered) {
      owned->ordered = owned->takeover.saved();
      orders.commit.push_back({range, owned->ordered});
    }
    SavePosition(*owned, range, now);
  }
}

Inflow::Process Pusher::AllRanges() const {
  Inflow::Process all{.ranges = ranges_.size()};
  for (const auto& [range, owned] : ranges_) all.hints += owned->lanes.hints().jobs();
  return all;
}

// Ways lead from every shard to every node that holds a range of ours.
void Pusher::CountWays() {
  std::set<uint32_t> nodes;
  for (const auto& [range, owned] : ranges_) {
    if (owned->takeover.ready()) nodes.insert(owned->takeover.node());
  }
  places_.SetWays(setup_.shards.shards() * nodes.size());
}

bool Pusher::HasLasted(const Owned& owned, Now now) const {
  return owned.takeover.ready_for(now) >= limits_.settle_after;
}

// Tells settlements_ that the start ends, because being told to go is not a crash. It repeats this
// until MariaDB has it.
void Pusher::Leave(Owned& owned, Range range, Now now) {
  if (owned.assigned || owned.left) return;  // not begun yet, or told already
  owned.left = true;
  settlements_.Leave(range, owned.takeover.start(), HasLasted(owned, now));
}

// Leaves the ranges in which a drain has nothing to finish. It begins no takeover, so it leaves
// ranges that are not ready. It also leaves ranges whose position Redis does not take: the next
// owner does again what was not saved.
void Pusher::LeaveUnready(Now now) {
  std::erase_if(ranges_, [&](const auto& entry) {
    const auto& [range, owned] = entry;
    const bool refused = owned->takeover.unsure() && owned->lanes.working() == 0;
    if (owned->takeover.ready() && !refused) return false;
    Leave(*owned, range, now);
    DropWork(*owned, range);
    return true;
  });
}

// The oldest of the work that is begun and not finished.
std::vector<BegunHints> Pusher::Begun(const Owned& owned, Range range) const {
  std::vector<BegunHints> begun;
  const auto& all = posts_.begun(range);
  for (auto at = all.lower_bound(owned.ledger.committable());
       at != all.end() && begun.size() < limits_.begun_saved; ++at) {
    begun.push_back(at->second);
  }
  return begun;
}

// Whether pos: is behind what is done. Called at each step, so it builds no list.
bool Pusher::Moved(const Owned& owned, Range range) const {
  const int64_t done = owned.ledger.committable();
  if (done > owned.takeover.saved()) return true;
  const std::vector<BegunHints>& saved = owned.takeover.begun();
  const auto& all = posts_.begun(range);
  auto at = all.lower_bound(done);
  size_t same = 0;
  while (at != all.end() && same < saved.size() && at->second == saved[same]) ++at, ++same;
  const bool more = at != all.end() && same < limits_.begun_saved;
  return same < saved.size() || more;
}

// Whether a later as_of is known than the one in pos:.
bool Pusher::Newer(const Owned& owned) {
  return owned.as_of != 0 && owned.as_of != owned.takeover.as_of();
}

// Finds the last log end that is reached. All that the log held when that end was asked for is
// applied.
void Pusher::ReachEnds(Owned& owned) {
  auto& ends = owned.ends;
  const int64_t applied = owned.ledger.committable();
  while (ends.size() > 1 && ends[1].offset <= applied) ends.pop_front();
  if (!ends.empty() && ends.front().offset <= applied) owned.as_of = ends.front().at;
}

void Pusher::Save(Owned& owned, Range range) {
  owned.takeover.Save(owned.ledger.committable(), Begun(owned, range), owned.as_of);
}

void Pusher::SavePosition(Owned& owned, Range range, Now now) {
  if (owned.takeover.saving()) return;
  ReachEnds(owned);
  const bool draining = !taking_ && owned.lanes.working() == 0;
  const bool may_save = draining || now.mono >= owned.save_at;
  // An occasional save, even if nothing moved, notices a flushed or rolled-back Redis in a quiet
  // hour.
  if (now.mono < owned.check_at && !(may_save && (Moved(owned, range) || Newer(owned)))) return;
  owned.save_at = now.mono + limits_.save_position_every;
  owned.check_at = now.mono + limits_.check_position_every;
  Save(owned, range);
}

// Whether hints start one at a time, each after its offset was saved. They do after the second
// crash.
bool Pusher::isolating(const Owned& owned) const {
  return owned.takeover.start().crashes >= kSuspicious;
}

// Whether a hint is being tried in any range that isolates. Only one may be: a crash ends the work
// on all ranges, and must be the fault of one hint alone.
bool Pusher::OneIsTried() const {
  return std::any_of(ranges_.begin(), ranges_.end(), [this](const auto& entry) {
    return isolating(*entry.second) && entry.second->lanes.units() > 0;
  });
}

// ---- outside view ---------------------------------------------------------------------------

bool Pusher::drained() const {
  if (running() > 0 || !settlements_.empty()) return false;
  return std::all_of(ranges_.begin(), ranges_.end(), [this](const auto& entry) {
    const auto& [range, owned] = entry;
    return owned->left && !Moved(*owned, range) && !owned->takeover.saving();
  });
}

void Pusher::Show() const {
  Metrics::Held held;
  held.units = units_.size();
  held.ranges = ranges_.size();
  held.units_parked = parking_.size();
  for (const auto& [range, owned] : ranges_) {
    const Inflow& inflow = owned->inflow;
    held.ranges_ready += owned->takeover.ready();
    held.highest_epoch = std::max(held.highest_epoch, owned->takeover.epoch());
    held.hints += owned->ledger.open();
    held.hints_parked += owned->lanes.hints().parked();
    held.longest_span = std::max<uint64_t>(held.longest_span, owned->ledger.span());
    if (inflow.full()) ++held.ranges_paused[static_cast<size_t>(*inflow.full())];
    if (inflow.newer() && ++held.ranges_awaiting_upgrade == 1) {
      held.upgrade_why = inflow.newer()->why;
    }
  }
  ports_.metrics.Holding(held);
}

std::optional<Time> Pusher::NextTimer() const {
  std::optional<Time> next;
  const auto earliest = [&next](std::optional<Time> time) { next = Earlier(next, time); };
  if (taking_) {
    earliest(parking_.timer([this](uint64_t unit) { return HasRoom(unit); }));
    const bool lanes_wait = std::any_of(ranges_.begin(), ranges_.end(), [](const auto& entry) {
      return entry.second->lanes.runnable();
    });
    if (lanes_wait) earliest(places_.timer());
  }
  earliest(settlements_.timer());
  for (const auto& [range, owned] : ranges_) {
    earliest(owned->takeover.timer());
    earliest(owned->walk.timer());
    if (taking_) earliest(owned->inflow.timer());
    if (!owned->takeover.ready() || owned->takeover.saving()) continue;
    const bool moved = Moved(*owned, range) || Newer(*owned);
    earliest(moved ? owned->save_at : owned->check_at);
  }
  return next;
}

}  // namespace fanline::pusher
