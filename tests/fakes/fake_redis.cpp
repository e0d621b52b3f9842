#include "tests/fakes/fake_redis.h"

#include <algorithm>
#include <limits>

#include "fanline/model/member.h"

namespace fanline::fakes {
// ---- the fence ------------------------------------------------------------------------------

std::optional<Status> FakeRedis::Refused(Range range, uint64_t epoch) {
  if (!rules.fence) return std::nullopt;
  auto& own = ranges_[range].own;
  if (!own) return Status::Later("redis", "no own:");
  if (*own > epoch) return Status::Later("fence", "own: is higher");
  own = epoch;
  return std::nullopt;
}

RangeClaimed FakeRedis::Do(const ClaimRange& request) {
  RangeKeys& keys = ranges_[request.range];
  RangeClaimed claimed{.id = request.id};
  if (rules.fence && keys.own && *keys.own >= request.epoch) {
    claimed.refused_by = *keys.own;
    return claimed;
  }
  keys.own = request.epoch;
  claimed.index = keys.index;
  claimed.position = keys.position;
  return claimed;
}

void FakeRedis::Announce(UserId reader) {
  RangeKeys& keys = KeysOf(reader);
  keys.live[reader] = ++keys.last;
}

NewsRead FakeRedis::Do(const ReadNews& request) {
  NewsRead news{.id = request.id};
  if (auto refused = Refused(request.range, request.epoch)) {
    news.status = std::move(*refused);
    news.needs_claim = true;
    return news;
  }
  const RangeKeys& keys = ranges_[request.range];
  news.index = keys.index;
  news.last = keys.last;
  news.readers = keys.live.size();
  for (const auto& [reader, number] : keys.live) {
    if (number > request.heard) news.announced.push_back({reader, number});
  }
  std::sort(news.announced.begin(), news.announced.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  if (news.announced.size() > request.limit) news.announced.resize(request.limit);
  return news;
}

bool FakeRedis::MakesIndex(const ResetRange& request) const {
  const bool walks = request.timelines != ResetRange::Timelines::kLeave;
  return walks && (request.position || !rules.walks_leave_index);
}

RangeReset FakeRedis::Do(const ResetRange& request) {
  if (request.timelines == ResetRange::Timelines::kLeave) return ResetEnd(request);
  const RangeReset begun = ResetBegin(request);
  if (!begun.status.done()) return begun;
  std::vector<UserId> all;
  for (const auto& [reader, timeline] : timelines_) all.push_back(reader);
  const uint64_t dropped = ResetPage(request, all).dropped;
  RangeReset reset = ResetEnd(request);
  reset.dropped = dropped;
  return reset;
}

RangeReset FakeRedis::ResetBegin(const ResetRange& request) {
  RangeReset reset{request.id, Status::Done(), false, 0};
  if (auto refused = Refused(request.range, request.epoch)) {
    reset.status = std::move(*refused);
    reset.needs_claim = true;
    return reset;
  }
  RangeKeys& keys = ranges_[request.range];
  if (!MakesIndex(request)) return reset;
  if (request.timelines == ResetRange::Timelines::kDrop) {
    keys.EmptyIndex();
    if (request.position && rules.loss_before_walk) keys.position.reset();
  }
  keys.index = 0;
  keys.pending = true;
  return reset;
}

RangeReset FakeRedis::ResetPage(const ResetRange& request, const std::vector<UserId>& found) {
  RangeReset reset{request.id, Status::Done(), false, 0};
  if (auto refused = Refused(request.range, request.epoch)) {
    reset.status = *refused;
    reset.needs_claim = true;
    return reset;
  }
  for (UserId reader : found) {
    if (layout_.RangeOf(reader) != request.range) continue;
    if (request.timelines == ResetRange::Timelines::kDrop) {
      reset.dropped += timelines_.count(reader);
      Delete(reader);
    } else if (timelines_.contains(reader)) {
      Announce(reader);
    }
  }
  return reset;
}

RangeReset FakeRedis::ResetEnd(const ResetRange& request) {
  RangeReset reset{request.id, Status::Done(), false, 0};
  if (auto refused = Refused(request.range, request.epoch)) {
    reset.status = *refused;
    reset.needs_claim = true;
    return reset;
  }
  RangeKeys& keys = ranges_[request.range];
  if (MakesIndex(request)) {
    if (!keys.pending && keys.index == 0 && rules.pending_index) {
      reset.status = Status::Later("redis", "an index was deleted");
      return reset;
    }
    keys.pending = false;
    keys.index = request.epoch;
  }
  if (request.position) keys.position = request.position;
  return reset;
}

PositionSaved FakeRedis::Do(const SavePosition& request) {
  PositionSaved saved{request.id, Status::Done(), false, false};
  if (auto refused = Refused(request.range, request.epoch)) {
    saved.status = std::move(*refused);
    saved.needs_claim = true;
    return saved;
  }
  auto& position = ranges_[request.range].position;
  saved.mismatch = position != request.expected && position != request.next;
  if (!saved.mismatch) position = request.next;
  return saved;
}

// ---- writes ---------------------------------------------------------------------------------

size_t FakeRedis::Card(const Timeline& timeline) {
  return 1 + InFrontOfHead(timeline) + timeline.items.size() + timeline.removed.size() +
         (timeline.building ? 1 : 0) + (timeline.floor ? 1 : 0);
}

std::vector<Item> FakeRedis::Sorted(const Timeline& timeline) {
  std::vector<Item> items;
  for (const auto& [post, item] : timeline.items) items.push_back(item);
  std::sort(items.begin(), items.end(), IsNewer);
  return items;
}

void FakeRedis::Delete(UserId reader) {
  timelines_.erase(reader);
  KeysOf(reader).live.erase(reader);
}

// Drops what sorts behind F. Items of exactly the floor's time sort before F and stay, though
// nobody is promised them.
void FakeRedis::CutBehindFloor(Timeline& timeline) {
  if (!timeline.floor || *timeline.floor == kNoFloor) return;
  std::erase_if(timeline.items,
                [&](const auto& each) { return each.second.created_at < *timeline.floor; });
}

// The items of a trimmed timeline: marks and mutes take the room of items where there is no other.
size_t FakeRedis::Keeps(const Timeline& timeline) const {
  return std::min<size_t>(window_.window, window_.trim_above() - 2 - InFrontOfHead(timeline));
}

void FakeRedis::BoundMarks(Timeline& timeline) const {
  if (MarksOf(timeline) <= window_.most_marks()) return;
  timeline.marks.clear();
  timeline.more_marks = rules.count_more_marks;
}

// Cuts back to the window and raises the floor to the newest item that goes.
void FakeRedis::Trim(Timeline& timeline) {
  const auto items = Sorted(timeline);
  const size_t keeps = Keeps(timeline);
  if (items.size() <= keeps) return;
  if (rules.raise_floor) {
    timeline.floor = std::max(timeline.floor.value_or(kNoFloor), items[keeps].created_at);
  }
  for (size_t i = keeps; i < items.size(); ++i) timeline.items.erase(items[i].post);
}

// As ZADD does. Returns whether it was new.
bool FakeRedis::Put(Timeline& timeline, const Item& item) {
  const auto [held, is_new] = timeline.items.try_emplace(item.post, item);
  const bool same = held->second.author == item.author && held->second.original == item.original;
  if (!same && !rules.one_spelling) spelled_twice.insert(item.post);
  held->second = item;
  return is_new;
}

// False when the timeline was deleted: a building one that grew past its bound.
bool FakeRedis::Add(UserId reader, Timeline& timeline, const Wanted& wanted, uint32_t& added,
                    uint64_t& trimmed) {
  for (const Item& item : wanted.adds) {
    added += Put(timeline, item);
  }
  for (const Mark& mark : wanted.marks) added += timeline.marks.insert(mark).second;
  BoundMarks(timeline);
  if (added == 0) return true;
  if (timeline.building) {
    if (Card(timeline) <= window_.trim_above()) return true;
    Delete(reader);
    return false;
  }
  const size_t before = timeline.items.size();
  CutBehindFloor(timeline);
  const size_t behind = before - timeline.items.size();  // never seen by anybody: not new
  added -= static_cast<uint32_t>(std::min<size_t>(added, behind));
  if (Card(timeline) > window_.trim_above()) {
    Trim(timeline);
    ++trimmed;
  }
  return true;
}

bool FakeRedis::FallsShort(const Timeline& timeline) const {
  return rules.short_rule && *timeline.floor != kNoFloor &&
         timeline.items.size() < window_.underfilled_below();
}

bool FakeRedis::DropIfShort(UserId reader, const Timeline& timeline) {
  if (!FallsShort(timeline)) return false;
  Delete(reader);
  return true;
}

// Whether a removal is of this item, in the other spelling too that a repost may have.
bool FakeRedis::Names(std::string_view removal, const Item& item) const {
  if (removal == std::string_view(MemberText(item))) return true;
  const auto named = ParseItem(removal);
  const bool repost = named && named->original && rules.any_spelling_goes;
  return std::string_view(MemberText::OfAnyKind(item)) ==
         (repost ? std::string_view(MemberText::OfAnyKind(*named)) : removal);
}

uint64_t FakeRedis::Remove(UserId reader, Timeline& timeline, const std::vector<Item>& removes,
                           bool& gone) {
  uint64_t removed = 0;
  for (const Item& item : removes) {
    const std::string named(MemberText::OfRemoved(item));
    removed += std::erase_if(timeline.items, [&](const auto& each) {
      const Item& held = each.second;
      const bool its_moment = item.created_at == 0 || item.created_at == held.created_at;
      return std::string_view(MemberText(held)) == named || (its_moment && Names(named, held));
    });
    if (timeline.building && rules.record_removals) timeline.removed.insert(named);
  }
  if (timeline.building) {
    gone = Card(timeline) > window_.trim_above();
    if (gone) Delete(reader);
  } else if (removed > 0) {
    gone = DropIfShort(reader, timeline);
  }
  return removed;
}

int8_t FakeRedis::Write(UserId reader, const Wanted& wanted, BatchWritten& totals) {
  const auto& [adds, removes, marks] = wanted;
  auto found = timelines_.find(reader);
  if (found == timelines_.end()) {
    KeysOf(reader).live.erase(reader);
    if (!rules.never_create && !adds.empty()) {
      Timeline& created = timelines_[reader];
      created.floor = kNoFloor;
      for (const Item& item : adds) created.items[item.post] = item;
      return static_cast<int8_t>(adds.size());
    }
    return BatchWritten::kNotLive;
  }
  const bool was_building = found->second.building;
  uint32_t added = 0;
  if (!removes.empty()) {
    bool gone = false;
    totals.removed += Remove(reader, found->second, removes, gone);
    if (gone) {
      totals.underfilled += !was_building;
      return BatchWritten::kNotLive;
    }
  }
  if (wanted.adds_any() && full) {
    if (!rules.drop_full) return BatchWritten::kKeyFailed;
    Delete(reader);
    ++totals.full;
    return BatchWritten::kNotLive;
  }
  if (wanted.adds_any() && !Add(reader, found->second, wanted, added, totals.trimmed)) {
    return BatchWritten::kNotLive;
  }
  return static_cast<int8_t>(added);
}

BatchWritten FakeRedis::Do(const TimelineBatch& request) {
  BatchWritten written{.id = request.id};
  if (auto refused = Refused(request.range, request.epoch)) {
    written.status = std::move(*refused);
    written.needs_claim = true;
    return written;
  }
  uint32_t add = 0;
  uint32_t remove = 0;
  uint32_t mark = 0;
  for (const auto& write : request.writes) {
    const Wanted wanted{
        {request.adds.begin() + add, request.adds.begin() + write.adds_end},
        {request.removes.begin() + remove, request.removes.begin() + write.removes_end},
        {request.marks.begin() + mark, request.marks.begin() + write.marks_end}};
    add = write.adds_end;
    remove = write.removes_end;
    mark = write.marks_end;
    written.results.push_back(Write(write.reader, wanted, written));
  }
  return written;
}

SyncApplied FakeRedis::Do(const ApplySync& request) {
  SyncApplied applied{request.id, Status::Done(), false, false};
  if (auto refused = Refused(request.range, request.epoch)) {
    applied.status = std::move(*refused);
    applied.needs_claim = true;
    return applied;
  }
  const auto found = timelines_.find(request.reader);
  if (found == timelines_.end()) {
    KeysOf(request.reader).live.erase(request.reader);
    return applied;
  }
  Timeline& timeline = found->second;
  if (timeline.building) {
    if (rules.sync_drops_building) Delete(request.reader);
    return applied;
  }
  if (full) {
    if (rules.drop_full) Delete(request.reader);
    applied.full = true;
    return applied;
  }
  applied.live = true;
  const Mark mark{request.author, request.no_reposts};
  std::erase_if(timeline.marks, [&](const Mark& held) {
    return held.author == request.author && (!request.marked || held != mark);
  });
  if (request.marked) {
    timeline.marks.insert(mark);
    BoundMarks(timeline);
    if (Card(timeline) > window_.trim_above()) Trim(timeline);
  }
  const bool removed =
      0 < std::erase_if(timeline.items, [&](const auto& each) {
        const Item& held = each.second;
        return held.author == request.author && rules.sync_takes_out &&
               std::none_of(request.items.begin(), request.items.end(), [&](const Item& item) {
                 return item.post == held.post && item.original == held.original;
               });
      });
  // Newest first, in pieces that keep the key within its bound; the floor may rise on the way.
  for (size_t at = 0; at < request.items.size(); at += kMaxAddsPerWrite) {
    const size_t end = std::min(request.items.size(), at + kMaxAddsPerWrite);
    for (size_t i = at; i < end; ++i) {
      if (request.items[i].created_at > *timeline.floor) {
        Put(timeline, request.items[i]);
      }
    }
    if (Card(timeline) > window_.trim_above()) Trim(timeline);
  }
  if (request.floor_at_least && *request.floor_at_least > *timeline.floor) {
    if (rules.raise_floor) timeline.floor = *request.floor_at_least;
    CutBehindFloor(timeline);
  }
  if (removed || request.floor_at_least) DropIfShort(request.reader, timeline);
  return applied;
}

MutesSet FakeRedis::Do(const SetMutes& request) {
  MutesSet set{.id = request.id};
  if (auto refused = Refused(request.range, request.epoch)) {
    set.status = std::move(*refused);
    set.needs_claim = true;
    return set;
  }
  const auto found = timelines_.find(request.reader);
  if (found == timelines_.end()) {
    KeysOf(request.reader).live.erase(request.reader);
    return set;
  }
  Timeline& timeline = found->second;
  if (timeline.building) {
    if (rules.sync_drops_building) Delete(request.reader);
    return set;
  }
  CutBehindFloor(timeline);
  if (full && request.mutes != 0) {
    if (rules.drop_full) Delete(request.reader);
    set.full = true;
    return set;
  }
  set.live = true;
  timeline.mutes = request.mutes;
  if (Card(timeline) > window_.trim_above()) Trim(timeline);
  return set;
}

TimelineDropped FakeRedis::Do(const DropTimeline& request) {
  TimelineDropped dropped{request.id, Status::Done(), false};
  if (auto refused = Refused(request.range, request.epoch)) {
    dropped.status = std::move(*refused);
    dropped.needs_claim = true;
    return dropped;
  }
  Delete(request.reader);
  return dropped;
}

PartMarked FakeRedis::Do(const MarkPart& request) {
  PartMarked marked{request.id, Status::Done(), false, false, false};
  Done& done = done_[{request.author, request.post}];
  const bool fresh = done.ranges.insert(request.part).second;
  marked.first_delivery = fresh && request.delivered && !std::exchange(done.any, true);
  marked.any_delivery = done.any;
  marked.last_part = !done.observed && done.ranges.size() >= request.parts;
  done.observed = done.observed || marked.last_part;
  return marked;
}

// ---- the reading side -----------------------------------------------------------------------

RebuildBegun FakeRedis::Begin(UserId reader, const std::string& token,
                              std::optional<uint64_t> generation) {
  const auto& position = KeysOf(reader).position;
  if (position && generation && position->generation != *generation) return RebuildBegun::kRefused;
  const auto found = timelines_.find(reader);
  if (found != timelines_.end()) {
    return found->second.building ? RebuildBegun::kBusy : RebuildBegun::kAlreadyReady;
  }
  Announce(reader);
  Timeline& timeline = timelines_[reader];
  timeline.building = true;
  timeline.token = token;
  return RebuildBegun::kCreated;
}

void FakeRedis::Abandon(UserId reader, const std::string& token) {
  const auto found = timelines_.find(reader);
  if (found == timelines_.end() || !found->second.building || found->second.token != token) return;
  KeysOf(reader).live.erase(reader);
  timelines_.erase(found);
}

bool FakeRedis::Finish(UserId reader, const std::string& token, const std::vector<Item>& items,
                       Floor floor, const std::vector<Mark>& marks, uint64_t mutes) {
  const auto found = timelines_.find(reader);
  if (found == timelines_.end() || !found->second.building || found->second.token != token) {
    return false;
  }
  if (full) {
    timelines_.erase(found);
    return false;
  }
  Timeline& building = found->second;
  Timeline ready{.mutes = mutes, .floor = floor};
  ready.marks.insert(marks.begin(), marks.end());
  if (rules.keep_marks) {
    ready.marks.insert(building.marks.begin(), building.marks.end());
    ready.more_marks = building.more_marks;
  }
  BoundMarks(ready);
  for (const Item& item : items) ready.items[item.post] = item;
  for (const std::string& removed : building.removed) {
    std::erase_if(ready.items, [&](const auto& each) { return Names(removed, each.second); });
  }
  // What stands in the key was added after it was recorded as removed, if it ever was.
  for (const auto& [post, item] : building.items) ready.items[post] = item;
  std::erase_if(ready.items, [floor](const auto& each) { return each.second.created_at < floor; });
  const auto sorted = Sorted(ready);
  size_t last = std::min(sorted.size(), Keeps(ready));
  while (last < sorted.size() && sorted[last].created_at == sorted[last - 1].created_at) ++last;
  if (last <= window_.window + window_.spare() - InFrontOfHead(ready)) {
    if (last < sorted.size()) ready.floor = sorted[last].created_at;
    for (size_t i = last; i < sorted.size(); ++i) ready.items.erase(sorted[i].post);
  } else {
    Trim(ready);
  }
  if (!building.removed.empty() && FallsShort(ready)) {
    timelines_.erase(found);
    return false;
  }
  building = ready;
  return true;
}

LivePage FakeRedis::Read(UserId reader, const std::optional<Position>& after, uint32_t limit,
                         bool in_front) {
  LivePage page;
  const auto found = timelines_.find(reader);
  if (found == timelines_.end()) return page;
  const Timeline& timeline = found->second;
  page.state = timeline.building ? TimelineState::kBuilding : TimelineState::kReady;
  if (timeline.building && rules.hide_building) return page;
  page.state = TimelineState::kReady;
  const auto written = position(layout_.RangeOf(reader));
  page.as_of = written ? written->as_of : 0;
  page.floor = timeline.floor.value_or(kNoFloor);
  page.mutes = timeline.mutes;
  page.marks.more = timeline.more_marks;
  for (const Mark& mark : timeline.marks) page.marks.Add(mark);
  for (const Item& item : Sorted(timeline)) {
    if (item.created_at <= page.floor) break;
    if (after && !IsNewer({after->post, after->created_at}, item)) {
      if (in_front) page.in_front.push_back({item.post, 0, item.author, item.original});
      continue;
    }
    if (page.items.size() == limit) return page;
    page.items.push_back(item);
  }
  page.reached_floor = true;
  return page;
}

// ---- what happens to a Redis ----------------------------------------------------------------

void FakeRedis::Expire(UserId reader) { timelines_.erase(reader); }

void FakeRedis::FlushAll() {
  timelines_.clear();
  ranges_.clear();
  done_.clear();
}

void FakeRedis::TakeFrom(const FakeRedis& other, Range range) {
  const auto here = [&](const auto& entry) { return layout_.RangeOf(entry.first) == range; };
  std::erase_if(timelines_, here);
  for (const auto& entry : other.timelines_) {
    if (here(entry)) timelines_.insert(entry);
  }
  ranges_.erase(range);
  const auto keys = other.ranges_.find(range);
  if (keys != other.ranges_.end()) ranges_.insert(*keys);
}

void FakeRedis::ForgetIndex(Range range) { ranges_[range].EmptyIndex(); }

void FakeRedis::Unlist(UserId reader) {
  if (!timelines_.contains(reader)) KeysOf(reader).live.erase(reader);
}

void FakeRedis::Number(UserId reader, uint64_t number) {
  RangeKeys& keys = KeysOf(reader);
  const auto listed = keys.live.find(reader);
  if (listed == keys.live.end()) return;
  listed->second = number;
  keys.last = std::max(keys.last, number);
}

// ---- looking inside -------------------------------------------------------------------------

std::vector<std::pair<std::string, double>> FakeRedis::Members(UserId reader) const {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto found = timelines_.find(reader);
  if (found == timelines_.end()) return {};
  const Timeline& timeline = found->second;
  std::vector<std::pair<std::string, double>> members;
  const auto add = [&](std::string_view member, double score) {
    members.emplace_back(member, score);
  };
  const auto score = [](UnixMs time) { return static_cast<double>(ScoreOf(time)); };
  add(kHeadMember, -kInf);
  for (const Mark& mark : timeline.marks) add(MemberText::OfMark(mark), -kInf);
  if (timeline.more_marks) add(kMoreMarksMember, -kInf);
  if (timeline.mutes != 0) add(MemberText::OfMutes(timeline.mutes), -kInf);
  for (const auto& [post, item] : timeline.items) add(MemberText(item), score(item.created_at));
  if (timeline.building) add(RebuildMember(timeline.token), kInf);
  for (const std::string& removed : timeline.removed) add(MemberText::OfRemoval(removed), kInf);

  if (timeline.floor) {
    add(kFloorMember, *timeline.floor == kNoFloor ? kInf : score(*timeline.floor));
  }
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first < b.first;
  });
  return members;
}

std::map<std::string, int64_t> FakeRedis::LiveMembers(Range range) const {
  std::map<std::string, int64_t> members;
  const auto found = ranges_.find(range);
  if (found == ranges_.end()) return members;
  const RangeKeys& keys = found->second;
  for (const auto& [reader, number] : keys.live) {
    members[ToString(reader)] = static_cast<int64_t>(number);
  }
  if (keys.last != 0) members["#n"] = -static_cast<int64_t>(keys.last);
  if (keys.index != 0) members["#complete"] = -static_cast<int64_t>(keys.index);
  if (keys.pending) members["#pending"] = -1;
  return members;
}

std::optional<uint64_t> FakeRedis::own(Range range) const {
  const auto found = ranges_.find(range);
  return found == ranges_.end() ? std::nullopt : found->second.own;
}

std::optional<AppliedPosition> FakeRedis::position(Range range) const {
  const auto found = ranges_.find(range);
  return found == ranges_.end() ? std::nullopt : found->second.position;
}

}  // namespace fanline::fakes
