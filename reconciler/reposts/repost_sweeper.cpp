#include "reconciler/reposts/repost_sweeper.h"

#include <algorithm>
#include <map>
#include <utility>

#include "fanline/consuming/answered.h"

namespace fanline::reconciler {
namespace {

// For good, and known to be no repost itself.
bool IsGone(const std::optional<PostState>& state) {
  return state && state->deleted && state->created_at && !state->original;
}

}  // namespace

RepostSweeper::RepostSweeper(const Store& store, const Port<AppendEvent>& log,
                             RepostMetrics& metrics, Mode mode, const ShardMap& map,
                             uint32_t partitions, const RepostLimits& limits)
    : store_(store),
      log_(log),
      metrics_(metrics),
      mode_(std::move(mode)),
      map_(map),
      partitions_(partitions),
      limits_(limits),
      walks_(map_.shards()),
      throttle_(limits.events_per_second, limits.events_burst) {}

Progress RepostSweeper::Step(std::span<RepostInput> inputs, Now now) {
  for (const RepostInput& input : inputs) {
    std::visit([&](const auto& what) { On(what, now); }, input);
  }
  Progress progress;
  if (!taking_) return progress;
  Append(now);
  for (Shard shard = 0; shard < walks_.size(); ++shard) {
    Walk& walk = walks_[shard];
    if (!walk.waiting.empty()) {
      progress.StepBy(now.mono + (may() ? limits_.tick : limits_.ask_mode_every));
      continue;
    }
    if (!walk.ours || walk.open > 0) continue;
    if (walk.next_at <= now.mono) Read(shard, now);
    if (walk.open == 0) progress.StepBy(walk.next_at);
  }
  return progress;
}

void RepostSweeper::Own(const std::vector<int32_t>& partitions) {
  const std::set<int32_t> owned(partitions.begin(), partitions.end());
  for (size_t shard = 0; shard < walks_.size(); ++shard) {
    const size_t partition = shard * partitions_ / walks_.size();
    walks_[shard].ours = owned.contains(static_cast<int32_t>(partition));
  }
}

// ---- pages --------------------------------------------------------------------------------------

void RepostSweeper::Read(Shard shard, Now now) {
  Walk& walk = walks_[shard];
  if (!may()) {
    walk.next_at = now.mono + limits_.ask_mode_every;
    return;
  }
  if (!std::exchange(walk.again, true)) walk.page_from = now.mono;
  store_.Submit(SweepReposts{Ask(shard), shard, walk.place, limits_.rows_per_page});
}

void RepostSweeper::On(const RepostsSwept& swept, Now now) {
  const Shard shard = Answered(swept.id, swept.status).of;
  Walk& walk = walks_[shard];
  if (!swept.status.done()) return Fail(walk, now);
  walk.page = swept;
  walk.gone.clear();
  if (!may()) return;  // it is read again
  std::map<Shard, std::set<Original>> by_shard;
  for (const RepostsSwept::Repost& repost : swept.reposts) {
    by_shard[map_.ShardOf(repost.original.author)].insert(repost.original);
  }
  for (const auto& [of, set] : by_shard) {
    const std::vector<Original> originals(set.begin(), set.end());
    store_.Submit(ReadOriginals{Ask(shard, originals), of, originals});
  }
  if (by_shard.empty()) Judge(walk, now);
}

// Of a shard that did not answer there are no states: its originals are left for the next walk.
void RepostSweeper::On(const OriginalsRead& read, Now now) {
  const Asked asked = Answered(read.id, read.status);
  Walk& walk = walks_[asked.of];
  for (size_t i = 0; i < std::min(asked.originals.size(), read.states.size()); ++i) {
    if (IsGone(read.states[i])) walk.gone.insert(asked.originals[i]);
  }
  if (walk.open == 0) Judge(walk, now);
}

void RepostSweeper::Judge(Walk& walk, Now now) {
  const std::set<PostKey> told = std::exchange(walk.told, {});
  for (const auto& [post, original] : walk.page.reposts) {
    if (!walk.gone.contains(original)) continue;
    walk.told.insert(post);
    if (!told.contains(post)) walk.waiting.push_back(post);
  }
  if (!walk.waiting.empty()) {
    walk.worked = true;
    return;
  }
  // Those that are left have their events, which did not take effect yet.
  const Duration since = now.mono - walk.told_at;
  if (walk.told.empty() || since >= limits_.patience) return Move(walk, now);
  walk.next_at = now.mono + std::max(since, limits_.look_again);
}

void RepostSweeper::Move(Walk& walk, Now now) {
  metrics_.RepostsPassed(walk.page.rows);
  walk.told.clear();
  walk.again = false;
  if (walk.page.over) return End(walk, now);
  walk.place = walk.page.last;
  const auto rows = std::chrono::duration_cast<Duration>(std::chrono::seconds(walk.page.rows));
  walk.next_at = std::max(now.mono, walk.page_from + rows / limits_.rows_per_second);
}

void RepostSweeper::End(Walk& walk, Now now) {
  walk.place = {};
  walk.next_at = now.mono + (walk.worked ? limits_.after_work : limits_.rest);
  walk.worked = false;
  walk.ended = now.unix_ms;
  UnixMs since = now.unix_ms;
  for (const Walk& each : walks_) {
    if (each.ours) since = std::min(since, each.ended);
  }
  if (since > 0) metrics_.RepostsSweptSince(since);
}

// The page is read again.
void RepostSweeper::Fail(Walk& walk, Now now) {
  walk.told.clear();
  walk.failed = false;
  walk.next_at = now.mono + limits_.after_failure;
}

// ---- events -------------------------------------------------------------------------------------

// One of each walk in turn.
void RepostSweeper::Append(Now now) {
  if (!may()) return;
  for (size_t without = 0; without < walks_.size(); turn_ = (turn_ + 1) % walks_.size()) {
    Walk& walk = walks_[turn_];
    if (walk.waiting.empty()) {
      ++without;
      continue;
    }
    if (!throttle_.Take(now.mono)) return;
    without = 0;
    const auto [author, post] = walk.waiting.front();
    walk.waiting.pop_front();
    log_.Submit(AppendEvent{Ask(static_cast<Shard>(turn_)),
                            {.kind = EventKind::kDeleted, .post = post, .author = author}});
  }
}

void RepostSweeper::On(const EventAppended& appended, Now now) {
  Walk& walk = walks_[Answered(appended.id, appended.status).of];
  if (appended.status.done()) {
    metrics_.RepostDeleted();
  } else {
    walk.failed = true;
    walk.waiting.clear();
  }
  if (walk.open > 0 || !walk.waiting.empty()) return;
  if (walk.failed) return Fail(walk, now);
  walk.told_at = now.mono;
  walk.next_at = now.mono + limits_.look_again;
}

// ---- requests -----------------------------------------------------------------------------------

uint64_t RepostSweeper::Ask(Shard of, std::vector<Original> originals) {
  asked_.emplace(++last_id_, Asked{of, std::move(originals)});
  ++walks_[of].open;
  return last_id_;
}

RepostSweeper::Asked RepostSweeper::Answered(uint64_t id, const Status& status) {
  if (status.later()) metrics_.Parked(status.resource);
  Asked asked = TakeAnswered(asked_, id);
  --walks_[asked.of].open;
  return asked;
}

}  // namespace fanline::reconciler
