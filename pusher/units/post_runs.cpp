#include "pusher/units/post_runs.h"

#include <algorithm>
#include <utility>

#include "fanline/consuming/answered.h"
#include "fanline/model/trace.h"

namespace fanline::pusher {
namespace {

// One step of a digest that stays the same from build to build.
uint64_t Mixed(uint64_t digest, uint64_t with) {
  uint64_t mixed = (digest ^ with) + 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

FollowerCursor After(UserId reader) { return {BucketOf(reader), reader}; }

bool IsBehind(const FollowerCursor& cursor, UserId reader) {
  return std::pair(cursor.bucket, cursor.reader) < std::pair(BucketOf(reader), reader);
}

}  // namespace

void PostRuns::Begin(Unit& unit, Now now) {
  if (const Run* known = Find(unit.id); known != nullptr && known->outdated) End(*known);
  const auto [at, fresh] = runs_.try_emplace(unit.id);
  Run& run = at->second;
  if (fresh) {
    run.unit = &unit;
    run.since = now.mono;
    for (const ReceivedHint& hint : unit.hints) {
      run.posts.push_back(std::get<Hint::Post>(hint.hint()->what).post);
    }
    std::sort(run.posts.begin(), run.posts.end());
    run.posts.erase(std::unique(run.posts.begin(), run.posts.end()), run.posts.end());
    const auto& taken_over = begun(unit.range);
    const auto before = taken_over.find(unit.hints.front().record.offset);
    if (before != taken_over.end()) {
      run.page_from = After(before->second.reader);
      run.delivered = before->second.delivered;
    }
  }
  run.page_limit = admission_.PageFor(unit.credit);
  run.trouble = Status::Done();
  ++run.reads_open;
  audiences_.Of(unit.range).Need(unit.id);
  const auto* list = lists_.Find(unit.range, unit.author, now.mono);
  run.listed = list != nullptr;
  ports_.metrics.LookedUp(run.listed);
  run.page_read = false;
  run.listed ? TakeFromList(run, *list) : ReadPage(run);
  const bool needs_states = !run.listed || !run.page.followers.empty();
  if (needs_states && !run.states_read) ReadStates(run);
}

void PostRuns::ReadStates(Run& run) {
  const Unit& unit = *run.unit;
  ++run.reads_open;
  if (unit.alone) {
    Ask(std::nullopt, {unit.id});
  } else {
    shards_[unit.way.shard].waiting.push_back(unit.id);
  }
}

void PostRuns::AskForStates() {
  for (auto& [shard, at] : shards_) {
    if (!at.asked) Ask(shard, std::exchange(at.waiting, {}));
  }
}

void PostRuns::Ask(std::optional<Shard> shard, const std::vector<uint64_t>& units) {
  Asked asked{.shard = shard};
  for (const uint64_t unit : units) {
    const Run* run = Find(unit);
    if (run == nullptr) continue;  // its range was lost meanwhile
    asked.units.push_back(unit);
    for (const PostId post : run->posts) asked.posts.emplace_back(run->unit->author, post);
  }
  if (asked.units.empty()) return;
  std::sort(asked.posts.begin(), asked.posts.end());
  asked.posts.erase(std::unique(asked.posts.begin(), asked.posts.end()), asked.posts.end());
  if (shard) shards_[*shard].asked = true;
  ports_.truth.Submit(ReadPostStates{++common_.ids, asked.posts});
  states_.emplace(common_.ids, std::move(asked));
}

void PostRuns::ReadPage(Run& run) {
  const Unit& unit = *run.unit;
  ++run.reads_open;
  run.read_from = run.page_from;
  // Before the page is read: what forgets the list from here on may be news to the page.
  const bool fills = !run.page_from && !run.list_from;
  if (fills) run.list = lists_.Begin(unit.range, unit.author, run.since);
  ports_.truth.Submit(
      ReadFollowerPage{unit.id, unit.range, unit.author, run.read_from, run.page_limit});
}

PostRuns::Run* PostRuns::Find(uint64_t unit) {
  const auto found = runs_.find(unit);
  return found == runs_.end() ? nullptr : &found->second;
}

std::vector<RunStep> PostRuns::On(const PostStates& states, Now now) {
  const Asked asked = TakeAnswered(states_, states.id);
  if (asked.shard) shards_[*asked.shard].asked = false;
  std::vector<RunStep> steps;
  for (const uint64_t unit : asked.units) {
    Run* run = Find(unit);
    if (run == nullptr) continue;  // its range was lost meanwhile
    if (states.status.done()) {
      run->states_read = true;
      TakeStates(*run, asked, states);
      run->whole = !run->page_from || !GoesOn(*run);
    }
    if (const auto step = Answered(*run, states.status, now)) steps.push_back(*step);
  }
  return steps;
}

std::optional<RunStep> PostRuns::On(FollowerPage& page, Now now) {
  Run* run = Find(page.id);
  if (run == nullptr) return std::nullopt;
  const Status status = page.status;
  if (status.done()) {
    ports_.metrics.PageRead(page.followers.size());
    run->page = std::move(page);
    run->page_read = true;
  }
  return Answered(*run, status, now);
}

std::optional<RunStep> PostRuns::OnNews(uint64_t unit, const Status& status, Now now) {
  Run* run = Find(unit);
  if (run == nullptr) return std::nullopt;
  // What a shard answered prevails: the unit waits for it first.
  return Answered(*run, run->trouble.done() ? status : run->trouble, now);
}

// The run goes on, or fails, once all its reads are answered: an answer that came after a failure
// would be taken for one to the next attempt. A `never` prevails.
std::optional<RunStep> PostRuns::Answered(Run& run, const Status& status, Now now) {
  if (!status.done() && !run.trouble.never()) run.trouble = status;
  if (--run.reads_open > 0) return std::nullopt;
  if (!run.trouble.done()) return Failed(run, run.trouble);
  return LookUp(run, now);
}

// Goes on with the page that was read, or with the list's. Who is live, news may say otherwise than
// when the page was taken.
std::optional<RunStep> PostRuns::LookUp(Run& run, Now now) {
  const bool begins_there = run.read_from == run.page_from;  // the states may say another page
  if (!run.page_read || !begins_there) {
    const bool is_taken = run.listed && begins_there && !HasNews(run);
    const auto* list = run.listed && !is_taken
                           ? lists_.Find(run.unit->range, run.unit->author, now.mono)
                           : nullptr;
    if (list == nullptr && !is_taken) {
      run.listed = false;
      ReadPage(run);
      if (!run.states_read) ReadStates(run);
      return std::nullopt;
    }
    if (list != nullptr) TakeFromList(run, *list);
    run.page_read = true;
    ports_.metrics.PassedOver(run.passed_over);
  }
  if (run.states_read) return Write(run, now);
  const bool nobody = run.page.followers.empty() && !run.page_from;
  if (nobody && !IsMeasured(run)) return PageDone(run, now);
  ReadStates(run);
  return std::nullopt;
}

// Since the page was taken from the list.
bool PostRuns::HasNews(const Run& run) const {
  return audiences_.Of(run.unit->range).heard() != run.heard;
}

// The next of those who are live by now, as many as a page may have.
void PostRuns::TakeFromList(Run& run, const FollowerLists::Followers& list) {
  const Audience& audience = audiences_.Of(run.unit->range);
  run.page = {};
  run.heard = audience.heard();
  run.read_from = run.page_from;
  std::vector<UserId>& taken = run.page.followers;
  auto at = list.begin();
  if (run.page_from) {
    at = std::upper_bound(at, list.end(), *run.page_from, IsBehind);
  } else {
    AddAuthor(run, taken);
  }
  run.passed_over = 0;
  uint32_t left = run.page_limit;
  for (; at != list.end(); ++at) {
    if (!audience.holds(*at)) {
      ++run.passed_over;
    } else if (left-- > 0) {
      taken.push_back(*at);
    } else {  // not the first follower, for the limit is at least one
      run.page.next = After(*std::prev(at));
      break;
    }
  }
  const FollowerLists::Followers& all = lists_.NoReposts(run.unit->range, run.unit->author);
  auto from = all.begin(), to = all.end();
  if (run.page_from) from = std::upper_bound(from, to, *run.page_from, IsBehind);
  if (run.page.next) to = std::upper_bound(from, to, *run.page.next, IsBehind);
  run.page.no_reposts.assign(from, to);
}

// Whether a hint is measured even if nobody is live.
bool PostRuns::IsMeasured(const Run& run) const {
  return std::any_of(run.unit->hints.begin(), run.unit->hints.end(), [](const auto& hint) {
    return std::get<Hint::Post>(hint.hint()->what).sample.has_value();
  });
}

// A page that is read again after a failed write is in the list already. What changed between the
// two reads has a sync behind this unit.
void PostRuns::FillList(Run& run) {
  const Range range = run.unit->range;
  const UserId author = run.unit->author;
  if (run.list == 0 || run.list_from != run.page_from) return;
  lists_.Append(range, author, run.list, run.page.followers, !run.page.next, run.page.no_reposts);
  run.list_from = run.page.next;
  if (!run.page.next) run.list = 0;
}

// Whether the unit may write its page. A large unit needs a wide credit, which it gets here if one
// is free. But one that was parked writes a small page: so it shows whether the resource is back.
// And one whose culprit is looked for goes from one small page to the next.
bool PostRuns::MayWrite(Unit& unit) {
  return !unit.large || unit.alone || Admission::is_tried(unit.credit) ||
         admission_.Widen(unit.credit);
}

std::optional<RunStep> PostRuns::Write(Run& run, Now now) {
  run.unit->large |= run.page.next.has_value();
  if (!MayWrite(*run.unit)) {  // the page is read again in its turn
    run.page = {};
    return RunStep{.unit = run.unit->id, .finished = false};
  }
  if (!run.listed) FillList(run);
  std::vector<UserId> readers = std::move(run.page.followers);
  if (!run.listed) {
    LeaveOutTheDead(run, readers);
    if (!run.page_from) AddAuthor(run, readers);
  }
  std::vector<UserId> apart = TakeApart(run, readers);
  run.writes_open = readers.size() + apart.size();
  run.page_live = 0;
  if (!guards_.pages_acknowledged && run.page.next) Pass(run);
  if (run.writes_open == 0) return PageDone(run, now);
  const Unit& unit = *run.unit;
  size_t& waiting = admission_.waiting_readers(unit.way.node);
  Writes& writes = writes_.try_emplace(unit.range, common_.limits, waiting, unit).first->second;
  Add(writes, run, std::move(readers), false);
  Add(writes, run, std::move(apart), true);
  return std::nullopt;
}

// Takes those who want no reposts out of the page's readers, if that makes a difference. Returns
// those of them to whom something else is to be written.
std::vector<UserId> PostRuns::TakeApart(Run& run, std::vector<UserId>& readers) {
  std::vector<UserId> chosen = std::exchange(run.page.no_reposts, {});
  const auto reposts = std::count_if(run.adds.begin(), run.adds.end(),
                                     [](const Item& item) { return item.original; });
  if (chosen.empty() || (reposts == 0 && !run.marks)) return {};
  std::sort(chosen.begin(), chosen.end());
  const auto apart = std::stable_partition(readers.begin(), readers.end(), [&](UserId reader) {
    return !std::binary_search(chosen.begin(), chosen.end(), reader);
  });
  std::vector<UserId> taken(apart, readers.end());
  readers.erase(apart, readers.end());
  const bool nothing_left =
      static_cast<size_t>(reposts) == run.adds.size() && run.removes.empty() && !run.marks;
  if (nothing_left) taken.clear();
  return taken;
}

void PostRuns::Add(Writes& writes, const Run& run, std::vector<UserId> readers, bool no_reposts) {
  const Unit& unit = *run.unit;
  Contribution wanted{unit.id, std::move(readers),       run.adds, run.removes, unit.alone,
                      {},      unit.large && !unit.alone};
  if (run.marks) wanted.mark = Mark{unit.author, no_reposts};
  if (no_reposts) std::erase_if(wanted.adds, [](const Item& item) { return item.original; });
  writes.batcher.Add(std::move(wanted));
}

void PostRuns::AddAuthor(const Run& run, std::vector<UserId>& readers) const {
  const UserId author = run.unit->author;
  if (!common_.setup.own_posts || !guards_.own_pushed) return;
  if (common_.setup.layout.RangeOf(author) != run.unit->range) return;
  const bool live = audiences_.Of(run.unit->range).holds(author);
  if (live) readers.insert(readers.begin(), author);
}

void PostRuns::LeaveOutTheDead(const Run& run, std::vector<UserId>& readers) const {
  const Audience& audience = audiences_.Of(run.unit->range);
  ports_.metrics.PassedOver(
      std::erase_if(readers, [&](UserId reader) { return !audience.holds(reader); }));
}

void PostRuns::TakeStates(Run& run, const Asked& asked, const PostStates& states) {
  run.content = Mixed(0, Raw(run.unit->author));
  auto at = asked.posts.begin();
  for (size_t i = 0; i < run.posts.size(); ++i) {
    at = std::lower_bound(at, asked.posts.end(), PostKey(run.unit->author, run.posts[i]));
    const PostState& state = states.posts.at(static_cast<size_t>(at - asked.posts.begin()));
    // A post that is merged at read must not be in any timeline. Its author is marked instead.
    const bool add = state.visible() && state.pushed;
    run.marks |= !state.pushed && guards_.posts_mark;
    // Without a time nobody knows whether it was a repost: what is removed is of any kind.
    const Item item{run.posts[i], state.created_at.value_or(0), run.unit->author, state.original};
    (add ? run.adds : run.removes).push_back(item);
    run.content = Mixed(run.content, Raw(run.posts[i]));
    run.content = Mixed(run.content, add ? static_cast<uint64_t>(*state.created_at) : 0);
    run.content = Mixed(run.content, add || state.pushed ? add : 2);
    run.content = Mixed(run.content, Raw(state.original.post));
    run.content = Mixed(run.content, Raw(state.original.author));
  }
}

// Whether the run goes on behind the pages that were finished before it. It does if it has the same
// hints and does the same with their posts. Otherwise it begins at the first page.
bool PostRuns::GoesOn(Run& run) {
  const Unit& unit = *run.unit;
  auto& begun = begun_.at(unit.range);
  const auto before = begun.find(unit.hints.front().record.offset);
  const bool same =
      before->second.content == run.content && before->second.hints == unit.hints.size();
  ports_.metrics.UnitTakenUp(same);
  if (same) return true;
  begun.erase(before);
  run.page_from.reset();
  run.delivered = false;
  return false;
}

// Notes that the page is done and that another one follows.
void PostRuns::Pass(const Run& run) {
  const Unit& unit = *run.unit;
  const int64_t offset = unit.hints.front().record.offset;
  begun_[unit.range][offset] = {offset, static_cast<uint32_t>(unit.hints.size()), run.content,
                                run.page.next->reader, run.delivered};
}

void PostRuns::End(const Run& run) {
  begun_[run.unit->range].erase(run.unit->hints.front().record.offset);
  runs_.erase(run.unit->id);
}

void PostRuns::Outdate(uint64_t unit) {
  if (Run* run = Find(unit)) run->outdated = true;
}

const std::map<int64_t, BegunHints>& PostRuns::begun(Range range) const {
  static const std::map<int64_t, BegunHints> kNone;
  const auto found = begun_.find(range);
  return found == begun_.end() ? kNone : found->second;
}

void PostRuns::TakeOver(Range range, const std::vector<BegunHints>& begun) {
  for (const BegunHints& each : begun) begun_[range].try_emplace(each.offset, each);
}

// Round robin over the ranges with something to write, as long as their node may be sent more.
void PostRuns::SendBatches() {
  auto at = writes_.upper_bound(last_sent_);
  size_t looked = 0;
  while (looked < writes_.size()) {
    if (at == writes_.end()) at = writes_.begin();
    auto& [range, writes] = *at++;
    ++looked;
    if (writes.batcher.empty()) continue;
    if (!admission_.may_send(writes.node)) continue;
    Send(range, writes);
    last_sent_ = range;
    looked = 0;
  }
}

void PostRuns::Send(Range range, Writes& writes) {
  Sent& sent = batches_[++common_.ids];
  sent.node = writes.node;
  sent.range = range;
  sent.epoch = writes.epoch;
  sent.heard = audiences_.Of(range).heard();
  admission_.Sent(writes.node);
  TimelineBatch batch = writes.batcher.Cut(&sent.shares);
  for (const auto& write : batch.writes) sent.readers.push_back(write.reader);
  batch.id = common_.ids;
  batch.range = range;
  batch.epoch = writes.epoch;
  ports_.metrics.BatchSent(batch.writes.size(), batch.adds.size() + batch.removes.size());
  ports_.timelines.Submit(std::move(batch));
}

std::vector<RunStep> PostRuns::On(const BatchWritten& written, Now now) {
  const Sent sent = TakeAnswered(batches_, written.id);
  admission_.Answered(sent.node);
  if (written.status.done() && !written.needs_claim) {
    ports_.metrics.Written(written);
    TakeDead(sent, written);
  }
  std::vector<RunStep> steps;
  for (const Share& share : sent.shares) {
    const UserId first = sent.readers.at(share.writes.front());
    const auto found = runs_.find(share.unit);
    if (found == runs_.end()) continue;  // its range was lost meanwhile
    Run& run = found->second;
    if (written.needs_claim) return {{share.unit, written.status, true}};  // for the whole range
    run.writes_open -= share.writes.size();
    if (!written.status.done()) {
      if (run.trouble.done()) run.trouble = written.status;
    } else {
      const auto is_live = [&](uint32_t write) { return written.results.at(write) >= 0; };
      const auto live = std::count_if(share.writes.begin(), share.writes.end(), is_live);
      // The author is a reader in one range only, but would count once for each range.
      const bool own = first == run.unit->author && is_live(share.writes.front());
      run.page_live += static_cast<uint64_t>(live - own);
      run.delivered |= live > 0 && !run.adds.empty();
    }
    if (run.writes_open == 0) steps.push_back(PageDone(run, now));
  }
  return steps;
}

void PostRuns::TakeDead(const Sent& sent, const BatchWritten& written) {
  Audience* audience = audiences_.Find(sent.range, sent.epoch);
  if (audience == nullptr) return;  // it was lost
  for (size_t write = 0; write < sent.readers.size(); ++write) {
    if (written.results.at(write) != BatchWritten::kNotLive) continue;
    audience->NotLive(sent.readers[write], sent.heard);
  }
}

RunStep PostRuns::PageDone(Run& run, Now now) {
  if (!run.trouble.done() && guards_.failed_pages_again) return Failed(run, run.trouble);
  const uint64_t unit = run.unit->id;
  run.live += run.page_live;
  if (run.page.next) {
    Pass(run);
    run.page_from = run.page.next;
    return {.unit = unit, .finished = false};
  }
  MarkParts(run);
  if (run.whole) weights_.Finished(*run.unit, run.live, now.unix_ms);
  End(run);
  return {.unit = unit};
}

// A run that can never succeed ends here; its hints may come back in another unit. Any other run
// waits without a page.
RunStep PostRuns::Failed(Run& run, const Status& status) {
  RunStep failed{run.unit->id, status};
  run.page = {};
  if (status.never()) End(run);
  return failed;
}

void PostRuns::MarkParts(const Run& run) {
  for (const ReceivedHint& hint : run.unit->hints) {
    const Hint::Post& what = std::get<Hint::Post>(hint.hint()->what);
    const bool visible =
        std::any_of(run.adds.begin(), run.adds.end(),
                    [id = what.post](const Item& item) { return item.post == id; });
    if (!what.sample || !visible) continue;
    marks_.Mark(run.unit->author, what.post, *what.sample, run.delivered,
                TraceIdOf(hint.record.headers));
  }
}

void PostRuns::ForgetRange(Range range) {
  if (guards_.begun_as_saved) begun_.erase(range);
  writes_.erase(range);
}

}  // namespace fanline::pusher
