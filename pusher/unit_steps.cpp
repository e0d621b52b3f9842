// What happens to one unit, from the lane's head to finished. Units stand apart: each knows its
// stage, and every reply moves exactly one of them (a batch's reply: all that share it).
#include <algorithm>

#include "fanline/check.h"
#include "fanline/size_class.h"
#include "pusher/pusher.h"

namespace fanline::pusher {

using Stage = Unit::Stage;

namespace {

std::string ReasonOf(const Unit& unit, const ReceivedHint& hint) {
  if (!unit.reason.empty()) return unit.reason;
  const auto decoded = DecodeHint(hint.record.value);
  const auto* refused = std::get_if<Rejection>(&decoded);
  return refused != nullptr ? refused->reason : std::string();
}

}  // namespace

Unit* Pusher::Find(uint64_t id) {
  const auto found = units_.find(id);
  return found == units_.end() ? nullptr : &found->second;
}

// ---- starting -------------------------------------------------------------------------------

void Pusher::StartUnits(Now now) {
  if (!taking_ || ranges_.empty()) return;
  if (!Refills(now) || !HasRoom()) return;
  size_t idle = 0;
  auto at = ranges_.upper_bound(last_started_);
  while (idle < ranges_.size() && running() < limits_.units_in_flight) {
    if (at == ranges_.end()) at = ranges_.begin();
    const bool started = at->second->takeover.ready() && StartOne(*at->second, at->first);
    idle = started ? 0 : idle + 1;
    last_started_ = at->first;
    ++at;
  }
  full_since_.reset();
  if (running() >= limits_.units_in_flight) full_since_ = now.mono;
}

// Once full, units start again a quarter at a time: those that start together are read from the
// truth together, in few large statements instead of many small ones. Where the others take long,
// a lane does not wait for them: after refill_within every free place is given away.
bool Pusher::Refills(Now now) const {
  return !full_since_ || running() <= limits_.units_in_flight / 4 * 3 ||
         now.mono >= *full_since_ + limits_.refill_within;
}

bool Pusher::HasRoom() const {
  size_t readers = 0;
  for (const auto& [range, owned] : ranges_) readers += owned->batcher.waiting_readers();
  return running() < limits_.units_in_flight && readers < limits_.waiting_readers;
}

// How many hints of the kind at a lane's head may be one unit.
size_t Pusher::MostHints(const Lane& lane) const {
  const auto& hint = lane.waiting.front().decoded;
  if (!hint) return lane.waiting.size();  // they wait for one and the same walk
  if (std::holds_alternative<Hint::Sync>(hint->what)) {
    const size_t under_way = sync_calls_.size();  // one for each reader
    const size_t left =
        limits_.syncs_in_flight - std::min<size_t>(limits_.syncs_in_flight, under_way);
    return std::clamp<size_t>(left, 1, limits_.syncs_per_unit);
  }
  return std::min({limits_.posts_per_unit, limits_.items_per_zadd, kMaxAddsPerWrite});
}

// Forms a unit of the next runnable lane's head and starts it.
bool Pusher::StartOne(Owned& owned, Range range) {
  if (owned.runnable.empty() || (isolating(owned) && owned.units > 0)) return false;
  const UserId author = owned.runnable.front();
  owned.runnable.pop_front();
  Lane& lane = owned.lanes.at(author);
  lane.queued = false;

  Unit unit;
  unit.id = ++ids_;
  unit.range = range;
  unit.author = author;
  const bool singly = lane.singly || isolating(owned);
  const size_t most = singly ? 1 : MostHints(lane);
  const auto kind = [](const ReceivedHint& hint) {
    return hint.decoded ? hint.decoded->what.index() + 1 : 0;
  };
  do {
    unit.hints.push_back(std::move(lane.waiting.front()));
    lane.waiting.pop_front();
  } while (!lane.waiting.empty() && unit.hints.size() < most &&
           kind(lane.waiting.front()) == kind(unit.hints.front()));
  unit.alone = singly;
  if (lane.waiting.empty()) lane.singly = false;
  ++lane.active;
  ++owned.units;
  if (!limits_.lanes_in_order && !lane.waiting.empty()) {
    lane.queued = true;
    owned.runnable.push_back(author);
  }

  Unit& placed = units_.emplace(unit.id, std::move(unit)).first->second;
  const int64_t offset = placed.hints.front().record.offset;
  if (isolating(owned) && owned.takeover.start().suspect == offset) {
    placed.reason = "the worker crashed on this hint again and again";
    Quarantine(placed);
  } else if (isolating(owned)) {
    placed.stage = Stage::kMarkingStart;
    ports_.owners.Submit(SaveStart{placed.id, range, owned.takeover.epoch(), offset});
  } else {
    Begin(placed);
  }
  return true;
}

// Asks for the truth (again): the state a unit starts from, and goes back to after a failure.
void Pusher::Begin(Unit& unit) {
  const ReceivedHint& first = unit.hints.front();
  if (!first.decoded) {
    Quarantine(unit);
    return;
  }
  if (unit.is_sync()) {
    BeginSyncs(unit);
    return;
  }
  if (unit.posts.empty()) {
    for (const ReceivedHint& hint : unit.hints)
      unit.posts.push_back(std::get<Hint::Post>(hint.decoded->what).post);
    std::sort(unit.posts.begin(), unit.posts.end());
    unit.posts.erase(std::unique(unit.posts.begin(), unit.posts.end()), unit.posts.end());
  }
  ReadPage(unit);
}

void Pusher::ReadPage(Unit& unit) {
  unit.stage = Stage::kReadingTruth;
  ReadPostPage request{unit.id, unit.range,     unit.author,
                       {},      unit.page_from, limits_.followers_per_page};
  if (!unit.states_read) request.posts = unit.posts;
  ports_.truth.Submit(std::move(request));
}

// ---- post hints -----------------------------------------------------------------------------

void Pusher::OnPage(PostPage& page, Now now) {
  Unit* unit = Find(page.id);
  if (unit == nullptr) return;
  if (!page.status.done()) {
    Failed(*unit, page.status, false, now);
    return;
  }
  ports_.metrics.PageRead(page.followers.size());
  if (!unit->states_read) {
    unit->states_read = true;
    for (size_t i = 0; i < unit->posts.size(); ++i) {
      const PostState& state = page.posts.at(i);
      // A pull-mode post is merged at read: it must not stand in any timeline.
      if (state.visible() && state.pushed) {
        unit->adds.push_back({unit->posts[i], *state.created_at});
      } else {
        unit->removes.push_back(unit->posts[i]);
      }
    }
  }
  unit->next_page = page.next;
  WritePage(*unit, std::move(page.followers), now);
}

void Pusher::WritePage(Unit& unit, std::vector<UserId> readers, Now now) {
  unit.stage = Stage::kWriting;
  unit.trouble = Status::Done();
  unit.writes_open = readers.size();
  if (readers.empty()) {
    PageDone(unit, now);
    return;
  }
  ranges_.at(unit.range)
      ->batcher.Add({unit.id, std::move(readers), unit.adds, unit.removes, unit.alone});
}

void Pusher::OnBatch(BatchWritten& written, Now now) {
  const auto found = batches_.find(written.id);
  FANLINE_CHECK(found != batches_.end(), "a reply to a batch never sent");
  const SentBatch sent = std::move(found->second);
  batches_.erase(found);
  --batches_in_flight_;

  if (written.status.done() && !written.needs_claim) {
    uint64_t added = 0, already = 0, dead = 0, failed = 0;
    for (int8_t result : written.results) {
      if (result > 0) added += static_cast<uint64_t>(result);
      already += result == 0;
      dead += result == BatchWritten::kNotLive;
      failed += result == BatchWritten::kKeyFailed;
    }
    ports_.metrics.Delivered(added, already);
    ports_.metrics.SkippedNotLive(written.pruned, dead - written.pruned);
    ports_.metrics.Removed(written.removed);
    ports_.metrics.Trimmed(written.trimmed);
    ports_.metrics.Underfilled(written.underfilled);
    if (written.full > 0) ports_.metrics.Full(written.full);
    if (failed > 0) ports_.metrics.KeyFailed(failed, written.key_error);
  }
  for (const Share& share : sent.shares) {
    Unit* unit = Find(share.unit);
    if (unit == nullptr) continue;  // its range was lost meanwhile
    if (written.needs_claim) {
      Failed(*unit, written.status, true, now);  // drops every unit of the range
      return;
    }
    unit->writes_open -= share.writes.size();
    if (!written.status.done()) {
      if (unit->trouble.done()) unit->trouble = written.status;
    } else if (!unit->delivered && !unit->adds.empty()) {
      unit->delivered = std::any_of(share.writes.begin(), share.writes.end(),
                                    [&](uint32_t write) { return written.results.at(write) >= 0; });
    }
    if (unit->writes_open == 0) PageDone(*unit, now);
  }
}

void Pusher::PageDone(Unit& unit, Now now) {
  if (!unit.trouble.done()) {
    Failed(unit, unit.trouble, false, now);  // the same page is read and written again
    return;
  }
  parking_.GotThrough(unit.id);
  if (!unit.next_page) {
    MarkParts(unit);
    Finish(unit, now);
    return;
  }
  unit.page_from = unit.next_page;
  ReadPage(unit);
}

// A measurement: it never delays or fails the hint.
void Pusher::MarkParts(const Unit& unit) {
  for (const ReceivedHint& hint : unit.hints) {
    const auto& post = std::get<Hint::Post>(hint.decoded->what);
    if (!post.sample) continue;
    const bool visible = std::any_of(unit.adds.begin(), unit.adds.end(),
                                     [&](const Item& item) { return item.post == post.post; });
    if (!visible) continue;
    const uint64_t id = ++ids_;
    marks_[id] = {SizeClassOf(post.sample->followers), post.sample->published_at};
    ports_.timelines.Submit(MarkPart{id, unit.author, post.post, post.sample->part,
                                     post.sample->parts, unit.delivered});
  }
}

void Pusher::OnPartMarked(const PartMarked& marked, Now now) {
  const auto found = marks_.find(marked.id);
  if (found == marks_.end()) return;
  const MarkedPart mark = found->second;
  marks_.erase(found);
  if (!marked.status.done()) return;
  const Duration since =
      std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - mark.published_at));
  if (marked.first_delivery) ports_.metrics.FirstDelivery(mark.size_class, since);
  if (marked.last_part && marked.any_delivery) ports_.metrics.LastDelivery(mark.size_class, since);
}

// ---- sync hints -----------------------------------------------------------------------------

// The readers of a run do not wait for each other: the adapters have all their calls of one kind
// under way at once, and read what they ask about one author together.
void Pusher::BeginSyncs(Unit& unit) {
  unit.stage = Stage::kSyncing;
  unit.trouble = Status::Done();
  std::vector<UserId> readers;
  for (const ReceivedHint& hint : unit.hints) {
    readers.push_back(std::get<Hint::Sync>(hint.decoded->what).reader);
  }
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  unit.readers_open = readers.size();
  const uint64_t epoch = ranges_.at(unit.range)->takeover.epoch();
  for (const UserId reader : readers) {
    ports_.timelines.Submit(ReadTimeline{NextSyncCall(unit, reader), unit.range, epoch, reader});
  }
}

uint64_t Pusher::NextSyncCall(const Unit& unit, UserId reader) {
  sync_calls_.emplace(++ids_, SyncCall{unit.id, reader});
  return ids_;
}

// The unit of an answered call and its reader, when that reader's chain goes on; nothing when it
// ends here: by a failure, or because the range was lost meanwhile.
Unit* Pusher::EndSyncCall(uint64_t id, const Status& status, bool needs_claim, UserId* reader,
                          Now now) {
  const auto found = sync_calls_.find(id);
  if (found == sync_calls_.end()) return nullptr;
  const SyncCall call = found->second;
  sync_calls_.erase(found);
  Unit* unit = Find(call.unit);
  if (unit == nullptr) return nullptr;
  *reader = call.reader;
  if (needs_claim) {
    Failed(*unit, status, true, now);  // drops every unit of the range
    return nullptr;
  }
  // What never works decides: what works later would hide it at every attempt.
  if (!status.done() && !unit->trouble.never()) unit->trouble = status;
  if (unit->trouble.done()) return unit;
  ReaderDone(*unit, now);
  return nullptr;
}

// Of a run with a failure every reader is synced again: that changes nothing for the others.
void Pusher::ReaderDone(Unit& unit, Now now) {
  if (--unit.readers_open > 0) return;
  if (unit.trouble.done()) {
    Finish(unit, now);
  } else {
    Failed(unit, unit.trouble, false, now);
  }
}

void Pusher::OnTimelineRead(TimelineRead& read, Now now) {
  UserId reader{};
  Unit* unit = EndSyncCall(read.id, read.status, read.needs_claim, &reader, now);
  if (unit == nullptr) return;
  switch (read.state) {
    case TimelineState::kNotLive:
      ReaderDone(*unit, now);
      return;
    case TimelineState::kBuilding:
      // What its rebuild has read may be of before this change: it starts again.
      ports_.timelines.Submit(DropTimeline{NextSyncCall(*unit, reader), unit->range,
                                           ranges_.at(unit->range)->takeover.epoch(), reader});
      return;
    case TimelineState::kReady:
      ports_.truth.Submit(ReadSync{NextSyncCall(*unit, reader), reader, unit->author,
                                   std::move(read.members), limits_.window.window});
      return;
  }
}

void Pusher::OnSyncTruth(SyncTruth& truth, Now now) {
  UserId reader{};
  Unit* unit = EndSyncCall(truth.id, truth.status, false, &reader, now);
  if (unit == nullptr) return;
  ports_.timelines.Submit(
      ApplySync{NextSyncCall(*unit, reader), unit->range, ranges_.at(unit->range)->takeover.epoch(),
                reader, std::move(truth.remove), std::move(truth.visible), truth.newest_unread});
}

void Pusher::OnSyncApplied(SyncApplied& applied, Now now) {
  UserId reader{};
  Unit* unit = EndSyncCall(applied.id, applied.status, applied.needs_claim, &reader, now);
  if (unit == nullptr) return;
  if (applied.full) ports_.metrics.Full(1);
  ReaderDone(*unit, now);
}

// ---- ends -----------------------------------------------------------------------------------

void Pusher::Finish(Unit& unit, Now now) {
  parking_.GotThrough(unit.id);
  Owned& owned = *ranges_.at(unit.range);
  for (const ReceivedHint& hint : unit.hints) {
    owned.ledger.Finished(hint.record.offset);
    const Duration since =
        std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - hint.record.timestamp));
    ports_.metrics.HintDone(unit.is_sync(), since);
  }
  --owned.units;
  const auto lane = owned.lanes.find(unit.author);
  --lane->second.active;
  if (lane->second.waiting.empty()) {
    if (lane->second.active == 0) owned.lanes.erase(lane);
  } else if (!lane->second.queued) {
    lane->second.queued = true;
    owned.runnable.push_back(unit.author);
  }
  units_.erase(unit.id);
}

void Pusher::Failed(Unit& unit, const Status& status, bool needs_claim, Now now) {
  if (needs_claim) {
    Lost(unit.range, status, now);
  } else if (status.never()) {
    Never(unit, status.message);
  } else {
    Later(unit, status, now);
  }
}

// Redis does not take us for the range's owner any more.
void Pusher::Lost(Range range, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  Redo(range, CauseOf(status), now);
}

void Pusher::Later(Unit& unit, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  if (unit.stage != Stage::kDropping && unit.stage != Stage::kDeadLettering &&
      unit.stage != Stage::kMarkingStart) {
    unit.stage = Stage::kWaiting;
  }
  parking_.Park(status.resource, unit.id, now.mono, random_());
  SetParked(unit, true);
}

// With its lane: what waits behind a parked head can no more be worked on than the head.
void Pusher::SetParked(Unit& unit, bool parked) {
  Owned& owned = *ranges_.at(unit.range);
  Lane& lane = owned.lanes.at(unit.author);
  lane.parked = parked && limits_.lanes_in_order;
  const size_t hints = unit.hints.size() + (limits_.lanes_in_order ? lane.waiting.size() : 0);
  owned.parked_hints += parked ? hints : -hints;
}

// Before lanes that have not begun: they would take every place that becomes free.
void Pusher::TryParked(Now now) {
  while (HasRoom()) {
    const auto id = parking_.Take(now.mono);
    if (!id) return;
    Unit* unit = &units_.at(*id);
    SetParked(*unit, false);
    switch (unit->stage) {
      case Stage::kDropping:
        DropReaders(*unit);
        break;
      case Stage::kDeadLettering:
        SendToDeadLetters(*unit);
        break;
      case Stage::kMarkingStart:
        ports_.owners.Submit(SaveStart{unit->id, unit->range,
                                       ranges_.at(unit->range)->takeover.epoch(),
                                       unit->hints.front().record.offset});
        break;
      default:
        Begin(*unit);
    }
  }
}

// Some hint of the unit can never be carried out. With several, they are tried one by one, and
// alone in their batch, so that only the culprit is quarantined.
void Pusher::Never(Unit& unit, const std::string& reason) {
  parking_.GotThrough(unit.id);
  if (unit.hints.size() == 1 && (unit.alone || unit.is_sync())) {
    unit.reason = reason;
    Quarantine(unit);
    return;
  }
  Owned& owned = *ranges_.at(unit.range);
  Lane& lane = owned.lanes.at(unit.author);
  lane.singly = true;
  while (!unit.hints.empty()) {
    lane.waiting.push_front(std::move(unit.hints.back()));
    unit.hints.pop_back();
  }
  --lane.active;
  --owned.units;
  if (!lane.queued) {
    lane.queued = true;
    owned.runnable.push_front(unit.author);
  }
  units_.erase(unit.id);
}

// First its readers' timelines are made not live (they rebuild, and miss nothing), then the hint
// goes to the dead letters. A post hint's readers cannot be trusted to be readable, so the whole
// range goes; a sync names its one reader.
void Pusher::Quarantine(Unit& unit) {
  for (const ReceivedHint& hint : unit.hints) ports_.metrics.HintQuarantined(ReasonOf(unit, hint));
  unit.stage = Stage::kDropping;
  DropReaders(unit);
}

void Pusher::DropReaders(Unit& unit) {
  Owned& owned = *ranges_.at(unit.range);
  if (!unit.is_sync()) {
    ++owned.walk.waiting;  // until StartWalks
    return;
  }
  const auto& sync = std::get<Hint::Sync>(unit.hints.front().decoded->what);
  ports_.timelines.Submit(DropTimeline{unit.id, unit.range, owned.takeover.epoch(), sync.reader});
}

void Pusher::StartWalks(Now now) {
  for (auto& [range, owned] : ranges_) {
    QuarantineWalk& walk = owned->walk;
    if (walk.waiting == 0 || walk.id != 0 || now.mono < walk.not_before) continue;
    walk.id = ++ids_;
    walk.waiting = 0;
    for (auto& [id, unit] : units_) {
      const bool waits = unit.range == range && unit.stage == Stage::kDropping && !unit.is_sync();
      if (waits) unit.walk = walk.id;
    }
    ResetRange reset{walk.id, range, owned->takeover.epoch(), {}, {}, std::nullopt};
    for (Bucket bucket = setup_.layout.First(range); bucket <= setup_.layout.Last(range);
         ++bucket) {
      reset.drop.push_back(bucket);
    }
    ports_.timelines.Submit(std::move(reset));
  }
}

void Pusher::OnWalked(const RangeReset& walked, Now now) {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), [&](const auto& entry) {
    return entry.second->walk.id == walked.id;
  });
  if (found == ranges_.end()) return;  // of a range lost meanwhile
  QuarantineWalk& walk = found->second->walk;
  walk.id = 0;
  if (walked.needs_claim) {
    Lost(found->first, walked.status, now);
    return;
  }
  const bool done = walked.status.done();
  for (auto& [id, unit] : units_) {
    if (unit.walk != walked.id) continue;
    unit.walk = 0;
    if (done) {
      unit.stage = Stage::kDeadLettering;
      SendToDeadLetters(unit);
    } else {
      ++walk.waiting;
    }
  }
  walk.attempts = done ? 0 : walk.attempts + 1;
  walk.not_before = done ? now.mono : now.mono + limits_.backoff.Delay(walk.attempts, random_());
  if (!done) ports_.metrics.Parked(walked.status.resource);
}

void Pusher::SendToDeadLetters(Unit& unit) {
  const ReceivedHint& hint = unit.hints.at(unit.dead_lettered);
  ports_.dead_letters.Submit({unit.id, {hint.record, "pusher", ReasonOf(unit, hint)}});
}

void Pusher::OnDropped(uint64_t id, const Status& status, bool needs_claim, Now now) {
  const Status again = status.never() ? Status::Later("redis", status.message) : status;
  UserId reader{};
  if (sync_calls_.contains(id)) {  // a building timeline met by a sync
    Unit* unit = EndSyncCall(id, again, needs_claim, &reader, now);
    if (unit != nullptr) ReaderDone(*unit, now);
    return;
  }
  Unit* unit = Find(id);
  if (unit == nullptr) return;
  if (!again.done() || needs_claim) {
    Failed(*unit, again, needs_claim, now);
  } else {
    unit->stage = Stage::kDeadLettering;
    SendToDeadLetters(*unit);
  }
}

}  // namespace fanline::pusher
