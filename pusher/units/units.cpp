#include "pusher/units/units.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace fanline::pusher {

using Stage = Unit::Stage;

Units::Units(Common& common, RangeKeeper& keeper)
    : common_(common),
      ports_(common.ports),
      limits_(common.limits),
      keeper_(keeper),
      admission_(limits_),
      lists_(common.limits.follower_lists, common.limits.follower_lists_age, common.setup.guards),
      audiences_(common),
      posts_(common, admission_, lists_, audiences_),
      syncs_(common, lists_, audiences_) {}

// ---- ranges ---------------------------------------------------------------------------------

const Lanes& Units::Open(Range range, const Opened& opened, const std::vector<BegunHints>& begun) {
  const Work& opening = open_.try_emplace(range, opened, common_).first->second;
  audiences_.TakeOver(range, opened.node, opened.epoch, opened.index);
  posts_.TakeOver(range, begun);
  CountWays();
  return opening.lanes;
}

void Units::CountWays() {
  std::set<uint32_t> nodes;
  for (const auto& [range, work] : open_) nodes.insert(work.opened.node);
  admission_.SetWays(common_.setup.shards.shards(), nodes);
}

void Units::Drop(Range range) {
  const auto found = open_.find(range);
  if (found == open_.end()) return;
  for (const Unit* unit : found->second.units) {
    const uint64_t id = unit->id;
    posts_.ForgetUnit(id);
    syncs_.ForgetUnit(id);
    units_.erase(id);
  }
  posts_.ForgetRange(range);
  audiences_.ForgetRange(range);
  if (common_.setup.guards.claims_forget_lists) lists_.ForgetRange(range);
  open_.erase(found);
  dropped_ = true;
}

// A rebalance drops many ranges at once, so this is done once for all of them.
void Units::ForgetDropped() {
  if (!std::exchange(dropped_, false)) return;
  CountWays();
  admission_.Forget([this](uint64_t unit) { return !units_.contains(unit); });
}

void Units::Learn(Range range, uint32_t crashes) {
  const auto found = open_.find(range);
  if (found != open_.end()) found->second.opened.crashes = crashes;
}

// ---- starting -------------------------------------------------------------------------------

void Units::Start(Now now) {
  ForgetDropped();
  if (taking_) StartUnits(now);
  StartWalks();
  audiences_.AskForNews();
  posts_.AskForStates();
  posts_.SendBatches();
}

void Units::StartUnits(Now now) {
  if (open_.empty()) return;
  admission_.Refill(now.mono);
  size_t idle = 0;
  auto at = open_.upper_bound(last_started_);
  while (idle < open_.size()) {
    if (at == open_.end()) at = open_.begin();
    idle = TakeTurn(at->first, at->second, now) ? 0 : idle + 1;
    last_started_ = at->first;
    ++at;
  }
}

// The next shard with a runnable lane and a credit for it.
std::optional<Shard> Units::NextShard(const Work& work) const {
  const uint32_t node = work.opened.node;
  const uint32_t shards = common_.setup.shards.shards();
  for (uint32_t step = 1; step <= shards; ++step) {
    const Shard shard = (work.last_started + step) % shards;
    if (!work.lanes.runnable(shard)) continue;
    if (admission_.admits({shard, node})) return shard;
  }
  return std::nullopt;
}

// Starts one unit of the range, and more until it has had as many as the range with most. A range
// that lags shares few authors with the ranges beside it, so it is rarely started beside them and
// catches up here. A range with nothing to start is owed nothing. One that could not start for long
// is owed no more than units_in_flight.
bool Units::TakeTurn(Range range, Work& work, Now now) {
  const uint64_t most_owed = work.lanes.runnable() ? limits_.units_in_flight : 0;
  const uint64_t owed = std::min(most_started_ - work.started, most_owed);
  work.started = most_started_ - owed;
  if (!StartOne(range, work, now)) return false;
  while (work.started < most_started_ && StartOne(range, work, now)) continue;
  return true;
}

// Starts the head of the range's next runnable lane, and the lanes of the same author in the ranges
// beside it: neighbouring ranges of one author are one seek in a shard (follower_pages.h). If each
// range took only its own next lane, ranges that a backlog has brought out of step would stay so,
// and every author would cost one seek per range.
bool Units::StartOne(Range range, Work& work, Now now) {
  const auto shard = NextShard(work);
  if (!shard || (work.isolating() && OneIsTried())) return false;
  work.last_started = *shard;
  const UserId author = work.lanes.next(*shard);
  StartUnit(range, work, author, now);
  const auto at = open_.find(range);
  for (auto up = std::next(at); up != open_.end(); ++up) {
    if (!StartBeside(up->first, up->second, author, now)) break;
  }
  for (auto down = std::make_reverse_iterator(at); down != open_.rend(); ++down) {
    if (!StartBeside(down->first, down->second, author, now)) break;
  }
  return true;
}

// A range that isolates takes its own turns (OneIsTried).
bool Units::StartBeside(Range range, Work& work, UserId author, Now now) {
  if (work.isolating() || !work.lanes.runnable(author)) return false;
  if (!admission_.admits({common_.setup.shards.ShardOf(author), work.opened.node})) return false;
  StartUnit(range, work, author, now);
  return true;
}

// Starts the head of the author's lane as a unit.
void Units::StartUnit(Range range, Work& work, UserId author, Now now) {
  const bool one_by_one = work.isolating();
  const size_t syncs =
      std::max<size_t>(limits_.syncs_in_flight, syncs_.readers()) - syncs_.readers();
  most_started_ = std::max(most_started_, ++work.started);
  Unit taken = work.lanes.Take(author, one_by_one, syncs, posts_.begun(range));
  taken.id = ++common_.ids;
  taken.range = range;
  taken.epoch = work.opened.epoch;
  taken.way.node = work.opened.node;
  taken.credit = admission_.Admit(taken.way, now.mono);
  Unit& unit = units_.emplace(taken.id, std::move(taken)).first->second;
  unit.place = work.units.size();
  work.units.push_back(&unit);
  one_by_one ? Enter(unit, Stage::kMarkingStart, now) : Begin(unit, now);
}

// Whether a hint is being tried in any range that isolates. Only one may be: a crash ends the work
// on all ranges, and must be the fault of one hint alone.
bool Units::OneIsTried() const {
  return std::any_of(open_.begin(), open_.end(), [](const auto& entry) {
    return entry.second.isolating() && entry.second.lanes.units() > 0;
  });
}

// ---- stages ---------------------------------------------------------------------------------

// Notes on the shard that this hint is being tried, or not any more.
void Units::Mark(Unit& unit, bool tried) {
  unit.marked = tried;
  ports_.owners.Submit(SaveStart{.id = unit.id,
                                 .range = unit.range,
                                 .epoch = unit.epoch,
                                 .offset = tried ? unit.hints.front().record.offset : -1,
                                 .start = open_.at(unit.range).opened.start});
}

// The hint is blamed if the third crash came while it was tried alone. But it may not have been a
// crash: the earlier owner may have been told to go, or have hung, and may be about to say so.
void Units::OnMarked(Unit& unit, const RangeOwned& reply, Now now) {
  if (!reply.suspected || reply.crashes < 3) return Begin(unit, now);
  if (now.mono - open_.at(unit.range).opened.since < limits_.last_words) {
    return Park(unit, {unit.way, "the last words of an owner"}, now);
  }
  unit.reason = "the worker crashed on this hint again and again";
  Quarantine(unit, now);
}

void Units::Begin(Unit& unit, Now now) {
  if (unit.hints.front().hint()) {
    Enter(unit, Stage::kRunning, now);
  } else {
    Quarantine(unit, now);
  }
}

// Asks for what the stage needs. A stage that is entered again after a failure begins anew.
void Units::Enter(Unit& unit, Stage stage, Now now) {
  unit.stage = stage;
  const ReceivedHint& first = unit.hints.front();
  switch (stage) {
    case Stage::kClearingStart:
    case Stage::kMarkingStart:
      return Mark(unit, stage == Stage::kMarkingStart);
    case Stage::kRunning:
      if (unit.is_sync()) return syncs_.Begin(unit);
      return posts_.Begin(unit, now);
    case Stage::kDropping:
      // The author's followers may be what cannot be read, so all timelines of the range are
      // dropped.
      if (!unit.is_sync()) return NeedWalk(unit);
      ports_.timelines.Submit(DropTimeline{unit.id, unit.range, unit.epoch,
                                           std::get<Hint::Sync>(first.hint()->what).reader});
      return;
    case Stage::kDeadLettering:
      const ReceivedHint& hint = unit.hints.at(unit.dead_lettered);
      ports_.dead_letters.Submit({unit.id, {hint.record, "pusher", unit.ReasonOf(hint)}});
      return;
  }
}

// What units have read may lack what the hint says. Those under way are still to write it. Those
// that have no credit, and further pages, read again.
void Units::NeedWalk(const Unit& unit) {
  Work& work = open_.at(unit.range);
  std::unordered_set<uint64_t> behind;
  for (const Unit* other : work.units) {
    posts_.Outdate(other->id);
    if (other->stage == Stage::kRunning && other->credit) behind.insert(other->id);
  }
  work.walk.Need(unit.id, std::move(behind));
}

// ---- replies --------------------------------------------------------------------------------

Unit* Units::Find(uint64_t id) {
  const auto found = units_.find(id);
  return found == units_.end() ? nullptr : &found->second;
}

void Units::On(const RangeReset& reset, Now now) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& entry) {
    return entry.second.walk.under_way(reset.id);
  });
  if (found == open_.end()) return;  // its range was lost meanwhile
  if (reset.needs_claim) return Lost(found->first, reset.status, now);
  for (const uint64_t id : found->second.walk.Ended()) {
    Unit& unit = units_.at(id);
    reset.status.done() ? Enter(unit, Stage::kDeadLettering, now)
                        : Later(unit, Status::Later("redis", reset.status.message), now);
  }
}

void Units::On(const PostStates& states, Now now) {
  for (const RunStep& step : posts_.On(states, now)) Advance(step, now);
}

void Units::On(const NewsRead& news, Now now) {
  const auto range = audiences_.AskedFor(news);
  if (!range) return;  // it was lost meanwhile
  if (news.needs_claim) return Lost(*range, news.status, now);
  Audience& audience = audiences_.Of(*range);
  if (news.status.done() && audience.Foreign(news)) {
    return keeper_.TakeOverAgain(*range, TakeoverCause::kRolledBack, now);
  }
  for (const uint64_t unit : audience.On(news)) {
    Advance(posts_.OnNews(unit, news.status, now), now);
    Advance(syncs_.OnNews(unit, news.status), now);
  }
}

void Units::On(const BatchWritten& written, Now now) {
  for (const RunStep& step : posts_.On(written, now)) Advance(step, now);
}

void Units::On(TimelineDropped& dropped, Now now) {
  if (dropped.status.never()) dropped.status = Status::Later("redis", dropped.status.message);
  Unit* unit = Find(dropped.id);
  if (unit != nullptr && dropped.status.done() && !dropped.needs_claim) {
    Enter(*unit, Stage::kDeadLettering, now);
  } else {
    Advance(RunStep{dropped.id, dropped.status, dropped.needs_claim}, now);
  }
}

void Units::On(const RangeOwned& reply, Now now) {
  Unit* unit = Find(reply.id);
  if (unit == nullptr) return;
  if (!reply.status.done()) return Later(*unit, reply.status, now);
  if (reply.refused) return keeper_.TakeOverAgain(unit->range, TakeoverCause::kFenced, now);
  Learn(unit->range, reply.crashes);
  if (unit->stage == Stage::kMarkingStart) return OnMarked(*unit, reply, now);
  admission_.GotThrough(unit->credit);
  Finish(*unit, now);
}

void Units::On(const DeadLetterAppended& reply, Now now) {
  Unit* unit = Find(reply.id);
  if (unit == nullptr) return;
  const bool taken = reply.status.done() || !common_.setup.guards.letters_before_commit;
  if (!taken) return Later(*unit, reply.status, now);
  admission_.GotThrough(unit->credit);
  if (++unit->dead_lettered < unit->hints.size()) {
    Enter(*unit, Stage::kDeadLettering, now);
  } else {
    Finish(*unit, now);
  }
}

// Redis no longer takes us for the range's owner.
void Units::Lost(Range range, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  keeper_.TakeOverAgain(range, CauseOf(status), now);
}

// ---- ends -----------------------------------------------------------------------------------

void Units::Advance(const std::optional<RunStep>& step, Now now) {
  Unit* unit = step ? Find(step->unit) : nullptr;
  if (unit == nullptr) return;
  if (step->needs_claim) return Lost(unit->range, step->status, now);
  if (step->status.never()) return Never(*unit, step->status.message, now);
  if (step->status.later()) return Later(*unit, step->status, now);
  admission_.GotThrough(unit->credit);
  if (step->finished) return Finish(*unit, now);
  open_.at(unit->range).walk.Settled(unit->id);
  // A drain leaves the rest to the next owner: nobody has a turn any more.
  taking_ && unit->alone ? Enter(*unit, Stage::kRunning, now) : AwaitTurn(*unit);
}

void Units::AwaitTurn(Unit& unit) {
  admission_.AwaitTurn(unit.id, std::move(unit.credit));
  open_.at(unit.range).lanes.SetAwaitingTurn(true);
}

void Units::Finish(Unit& unit, Now now) {
  if (unit.marked) return Enter(unit, Stage::kClearingStart, now);
  Work& work = open_.at(unit.range);
  keeper_.HintsDone(unit.range, unit.hints);
  for (const ReceivedHint& hint : unit.hints) {
    const Duration since =
        std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - hint.record.timestamp));
    ports_.metrics.HintDone(unit.is_sync(), since);
  }
  work.lanes.Finished(unit);
  work.walk.Settled(unit.id);
  TakeOut(unit);
}

Unit Units::TakeOut(const Unit& unit) {
  auto& units = open_.at(unit.range).units;
  units[unit.place] = units.back();
  units[unit.place]->place = unit.place;
  units.pop_back();
  return std::move(units_.extract(unit.id).mapped());
}

// In Redis a single range may be away, because its node is away or its slot is moving to another
// node. So each range has a queue of its own.
void Units::Later(Unit& unit, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  const bool of_range = status.resource == "redis";
  const Admission::QueueName queue{unit.way, status.resource, of_range ? unit.range : -1};
  // A post asks a shard first, and a sync asks Redis first.
  if (of_range && !unit.is_sync()) admission_.GotThroughTo(unit.credit, queue);
  Park(unit, queue, now);
}

void Units::Park(Unit& unit, const Admission::QueueName& queue, Now now) {
  admission_.Park(unit.id, std::move(unit.credit), queue, now.mono, common_.random());
  Work& work = open_.at(unit.range);
  work.walk.Settled(unit.id);
  work.lanes.SetParked(unit, true);
}

void Units::GoOn(Now now) {
  ForgetDropped();
  if (!taking_) return;
  while (auto tried = admission_.TryNext(now.mono)) {
    Unit& unit = units_.at(tried->unit);
    unit.credit = std::move(tried->credit);
    open_.at(unit.range).lanes.SetParked(unit, false);
    Enter(unit, unit.stage, now);
  }
  while (auto next = admission_.NextTurn()) {
    Unit& unit = units_.at(next->unit);
    unit.credit = std::move(next->credit);
    open_.at(unit.range).lanes.SetAwaitingTurn(false);
    Enter(unit, Stage::kRunning, now);
  }
}

void Units::Never(Unit& unit, const std::string& reason, Now now) {
  admission_.GotThrough(unit.credit);
  if (unit.hints.size() == 1 && (unit.alone || unit.is_sync())) {
    unit.reason = reason;
    open_.at(unit.range).walk.Settled(unit.id);
    Quarantine(unit, now);
    return;
  }
  Work& work = open_.at(unit.range);
  work.walk.Settled(unit.id);
  work.lanes.TakeApart(TakeOut(unit));
}

// A list may lack what the hint says. An undecodable one may be a sync of anybody.
void Units::ForgetLists(const Unit& unit) {
  const MutationSwitches& guards = common_.setup.guards;
  if (!unit.hints.front().hint()) {
    if (guards.undecodable_forgets_lists) lists_.ForgetRange(unit.range);
  } else if (guards.quarantines_forget_lists) {
    lists_.Forget(unit.range, unit.author);
  }
}

void Units::Quarantine(Unit& unit, Now now) {
  ForgetLists(unit);
  for (const ReceivedHint& hint : unit.hints) ports_.metrics.HintQuarantined(unit.ReasonOf(hint));
  const bool drops = common_.setup.guards.quarantine_drops;
  Enter(unit, drops ? Stage::kDropping : Stage::kDeadLettering, now);
}

void Units::StartWalks() {
  for (auto& [range, work] : open_) {
    if (!work.walk.due()) continue;
    ports_.timelines.Submit(work.walk.Begin(++common_.ids, range, work.opened.epoch));
  }
}

// ---- outside view ---------------------------------------------------------------------------

void Units::Show(Metrics::Held& held) const {
  held.units = units_.size();
  held.units_parked = admission_.parked();
  held.units_awaiting_turns = admission_.awaiting_turns();
  held.live_readers = audiences_.live_readers();
  held.lists = lists_.lists();
  held.list_bytes = lists_.bytes();
  for (const auto& [range, work] : open_) held.hints_parked += work.lanes.hints().parked();
}

std::optional<Time> Units::timer() const {
  if (!taking_) return std::nullopt;
  const std::optional<Time> next = admission_.retry_timer();
  const bool lanes_wait = std::any_of(
      open_.begin(), open_.end(), [](const auto& entry) { return entry.second.lanes.runnable(); });
  return lanes_wait ? Earlier(next, admission_.refill_timer()) : next;
}

}  // namespace fanline::pusher
