#include "pusher/ranges/ranges.h"

#include <algorithm>
#include <string>
#include <utility>

#include "fanline/base/misconfigured.h"
#include "fanline/model/headers.h"

namespace fanline::pusher {

// ---- inputs ---------------------------------------------------------------------------------

bool Ranges::On(const PartitionAssigned& assigned, Now now) {
  // A partition that was added at run time is not a range, because it has no buckets. Hints in it
  // mean that another program divides the buckets differently.
  if (assigned.partition < 0 ||
      static_cast<uint32_t>(assigned.partition) >= common_.setup.layout.partitions()) {
    throw Misconfigured(
        "partition " + std::to_string(assigned.partition) +
        " of the tasks topic was assigned, but the installation says " +
        std::to_string(common_.setup.layout.partitions()) +
        " ranges: its partitions must not be added to. Kafka takes none away again: stop all "
        "programs, delete the topic, run feedctl topics create and start them again. Live "
        "timelines are rebuilt");
  }
  On(PartitionRevoked{assigned.partition}, now);
  auto& owned = ranges_[assigned.partition];
  owned = std::make_unique<Owned>(assigned.partition, common_);
  owned->assigned = assigned;
  return true;
}

bool Ranges::On(const PartitionRevoked& revoked, Now now) {
  const auto found = ranges_.find(revoked.partition);
  if (found == ranges_.end()) return true;
  auto& [range, owned] = *found;
  // A revocation is not a crash: a rebalance takes every range from every member.
  Leave(*owned, range, now);
  // The next owner goes on from this position if it reaches Redis before that owner's claim.
  // Between a takeover and its seek the ledger is still the one from before, so nothing is saved.
  const bool saves = owned->inflow.open() && owned->takeover.ready() && !owned->takeover.saving();
  if (saves && Moved(*owned, range)) Save(*owned, range);
  Drop(*owned, range);
  ranges_.erase(found);
  return true;
}

// An end that is lower than the one before means that the log lost its tail.
bool Ranges::On(const LogEndSeen& seen, Now now) {
  const auto found = ranges_.find(seen.partition);
  if (found == ranges_.end()) return true;
  auto& ends = found->second->ends;
  if (!ends.empty() && seen.end < ends.back().offset) ends.clear();
  if (ends.size() == limits_.ends_kept) return true;
  const auto ago = std::chrono::ceil<std::chrono::milliseconds>(now.mono - seen.asked_at);
  ends.push_back({seen.end, now.unix_ms - ago.count()});
  return true;
}

bool Ranges::On(Record& record, Now now) {
  const auto found = ranges_.find(record.partition);
  if (found == ranges_.end() || !found->second->inflow.open() || !taking_) return true;
  auto& [range, owned] = *found;

  const int64_t offset = record.offset;
  auto decoded = DecodeHint(record.value);
  auto* refused = std::get_if<Rejection>(&decoded);
  if (refused && refused->newer && common_.setup.guards.newer_awaited) {
    owned->inflow.StandBefore(offset, std::move(refused->reason), now, common_.random());
    return true;
  }
  if (!owned->ledger.Received(offset)) return true;  // seen before
  owned->inflow.Took();
  const Hint* hint = std::get_if<Hint>(&decoded);
  common_.ports.metrics.HintReceived(hint && std::holds_alternative<Hint::Sync>(hint->what));
  // Keeps only headers that travel on: the hint's writer may have added more, and ranges hold many
  // hints.
  if (!record.headers.empty()) record.headers = TravellingHeaders(record.headers);
  units_.Add(range, {std::move(record), std::move(decoded)});
  return true;
}

template <typename Reply>
bool Ranges::OfTakeover(const Reply& reply, Now now) {
  const uint64_t random = common_.random();
  for (auto& [range, owned] : ranges_) {
    const bool was_ready = owned->takeover.ready();
    if (!owned->takeover.On(reply, now, random)) continue;
    if (was_ready && !owned->takeover.ready()) Drop(*owned, range);
    return true;
  }
  return false;
}

bool Ranges::On(const RangeOwned& reply, Now now) {
  if (OfTakeover(reply, now)) return true;
  const auto settled = settlements_.On(reply, now, common_.random());
  if (!settled) return false;
  // Learned here because no mark may follow: hints are tried one by one, and the first may be
  // parked.
  const auto found = ranges_.find(*settled);
  if (reply.status.done() && found != ranges_.end()) {
    found->second->takeover.Learn(reply);
    units_.Learn(*settled, reply.crashes);
  }
  return true;
}

bool Ranges::On(const RangeClaimed& claimed, Now now) { return OfTakeover(claimed, now); }
bool Ranges::On(const RangeReset& reset, Now now) { return OfTakeover(reset, now); }
bool Ranges::On(const PositionSaved& saved, Now now) { return OfTakeover(saved, now); }

void Ranges::HintsDone(Range range, const std::vector<ReceivedHint>& hints) {
  OffsetLedger& ledger = ranges_.at(range)->ledger;
  for (const ReceivedHint& hint : hints) ledger.Finished(hint.record.offset);
}

// Redis refused, or may have lost data. Nothing that was read so far may still be written.
void Ranges::TakeOverAgain(Range range, TakeoverCause cause, Now now) {
  const auto found = ranges_.find(range);
  if (found == ranges_.end()) return;
  found->second->takeover.Again(cause, now, common_.random());
  Drop(*found->second, range);
}

// ---- what is due ----------------------------------------------------------------------------

void Ranges::Tend(Now now, ConsumerOrders& orders) {
  settlements_.OnTimer(now);
  if (!taking_) LeaveUnready(now);
  const Inflow::Process all = All();
  for (auto& [range, owned] : ranges_) {
    if (owned->assigned && !settlements_.open(range)) {
      owned->takeover.Start(*std::exchange(owned->assigned, std::nullopt), common_.random(), now);
    }
    owned->takeover.OnTimer(now);
    if (const auto seek = owned->takeover.TakeSeek()) Open(*owned, range, *seek, now, orders);
    owned->inflow.Direct(owned->ledger, owned->lanes, all, taking_, now, orders);
    if (!owned->takeover.ready()) continue;
    if (HasDrained(*owned)) {
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

void Ranges::Open(Owned& owned, Range range, int64_t seek, Now now, ConsumerOrders& orders) {
  owned.ledger.Reset(seek);
  owned.as_of = 0;
  const RangeTakeover& taken = owned.takeover;
  const OwnStart& start = taken.start();
  owned.lanes = &units_.Open(
      range, {taken.node(), start.epoch, taken.index(), start.token, start.crashes, now.mono},
      taken.begun());
  owned.inflow.Seek(seek, orders);
  owned.save_at = now.mono + limits_.save_position_every;
  owned.check_at = now.mono + limits_.check_position_every;
}

// Forgets all work on the range. Nothing is read for it until it is open again.
void Ranges::Drop(Owned& owned, Range range) {
  units_.Drop(range);
  owned.lanes = nullptr;
  owned.inflow.Stop();
}

Inflow::Process Ranges::All() const {
  Inflow::Process all{.ranges = ranges_.size()};
  for (const auto& [range, owned] : ranges_) {
    if (owned->lanes) all.hints += owned->lanes->hints().jobs();
  }
  return all;
}

// Whether a drain has nothing to finish here.
bool Ranges::HasDrained(const Owned& owned) const {
  return !taking_ && (!owned.lanes || owned.lanes->working() == 0);
}

bool Ranges::HasLasted(const Owned& owned, Now now) const {
  return owned.takeover.ready_for(now) >= limits_.settle_after;
}

// Tells settlements_ that the start ends, because being told to go is not a crash. It repeats this
// until the shard has it.
void Ranges::Leave(Owned& owned, Range range, Now now) {
  if (owned.assigned || owned.left) return;  // not begun yet, or told already
  owned.left = true;
  settlements_.Leave(range, owned.takeover.start(), HasLasted(owned, now));
}

// Leaves the ranges in which a drain has nothing to finish. It begins no takeover, so it leaves
// ranges that are not ready. It also leaves ranges whose position Redis does not take: the next
// owner does again what was not saved.
void Ranges::LeaveUnready(Now now) {
  std::erase_if(ranges_, [&](const auto& entry) {
    const auto& [range, owned] = entry;
    const bool refused = owned->takeover.unsure() && HasDrained(*owned);
    if (owned->takeover.ready() && !refused) return false;
    Leave(*owned, range, now);
    Drop(*owned, range);
    return true;
  });
}

// ---- positions ------------------------------------------------------------------------------

// The oldest of the work that is begun and not finished.
std::vector<BegunHints> Ranges::Begun(const Owned& owned, Range range) const {
  std::vector<BegunHints> begun;
  const auto& all = units_.begun(range);
  for (auto at = all.lower_bound(owned.ledger.committable());
       at != all.end() && begun.size() < limits_.begun_saved; ++at) {
    begun.push_back(at->second);
  }
  return begun;
}

// Whether pos: is behind what is done. Called at each step, so it builds no list.
bool Ranges::Moved(const Owned& owned, Range range) const {
  const int64_t done = owned.ledger.committable();
  if (done > owned.takeover.saved()) return true;
  const std::vector<BegunHints>& saved = owned.takeover.begun();
  const auto& all = units_.begun(range);
  auto at = all.lower_bound(done);
  size_t same = 0;
  while (at != all.end() && same < saved.size() && at->second == saved[same]) ++at, ++same;
  const bool more = at != all.end() && same < limits_.begun_saved;
  return same < saved.size() || more;
}

// Whether a later as_of is known than the one in pos:.
bool Ranges::Newer(const Owned& owned) {
  return owned.as_of != 0 && owned.as_of != owned.takeover.as_of();
}

// Finds the last log end that is reached. All that the log held when that end was asked for is
// applied.
void Ranges::ReachEnds(Owned& owned) {
  auto& ends = owned.ends;
  const int64_t applied = owned.ledger.committable();
  while (ends.size() > 1 && ends[1].offset <= applied) ends.pop_front();
  if (!ends.empty() && ends.front().offset <= applied) owned.as_of = ends.front().at;
}

void Ranges::Save(Owned& owned, Range range) {
  owned.takeover.Save(owned.ledger.committable(), Begun(owned, range), owned.as_of);
}

void Ranges::SavePosition(Owned& owned, Range range, Now now) {
  if (owned.takeover.saving()) return;
  ReachEnds(owned);
  const bool may_save = HasDrained(owned) || now.mono >= owned.save_at;
  // An occasional save, even if nothing moved, notices a flushed or rolled-back Redis in a quiet
  // hour.
  if (now.mono < owned.check_at && !(may_save && (Moved(owned, range) || Newer(owned)))) return;
  owned.save_at = now.mono + limits_.save_position_every;
  owned.check_at = now.mono + limits_.check_position_every;
  Save(owned, range);
}

// ---- outside view ---------------------------------------------------------------------------

bool Ranges::drained() const {
  return settlements_.empty() && std::all_of(ranges_.begin(), ranges_.end(), [&](const auto& at) {
           const auto& [range, owned] = at;
           return owned->left && !Moved(*owned, range) && !owned->takeover.saving();
         });
}

void Ranges::Show(Metrics::Held& held) const {
  held.ranges = ranges_.size();
  for (const auto& [range, owned] : ranges_) {
    const Inflow& inflow = owned->inflow;
    held.ranges_ready += owned->takeover.ready();
    held.highest_epoch = std::max(held.highest_epoch, owned->takeover.epoch());
    held.hints += owned->ledger.open();
    held.longest_span = std::max<uint64_t>(held.longest_span, owned->ledger.span());
    if (inflow.full()) ++held.ranges_paused[static_cast<size_t>(*inflow.full())];
    if (inflow.newer() && ++held.ranges_awaiting_upgrade == 1) {
      held.upgrade_why = inflow.newer()->why;
    }
  }
}

std::optional<Time> Ranges::timer() const {
  std::optional<Time> next = settlements_.timer();
  const auto earliest = [&next](std::optional<Time> time) { next = Earlier(next, time); };
  for (const auto& [range, owned] : ranges_) {
    earliest(owned->takeover.timer());
    if (taking_) earliest(owned->inflow.timer());
    if (!owned->takeover.ready() || owned->takeover.saving()) continue;
    const bool moved = Moved(*owned, range) || Newer(*owned);
    earliest(moved ? owned->save_at : owned->check_at);
  }
  return next;
}

}  // namespace fanline::pusher
