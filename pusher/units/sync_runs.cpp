#include "pusher/units/sync_runs.h"

#include <algorithm>
#include <utility>

namespace fanline::pusher {

void SyncRuns::Begin(const Unit& unit) {
  Run& run = runs_[unit.id] = {unit.range, unit.epoch, unit.author};
  for (const ReceivedHint& hint : unit.hints) {
    run.readers.push_back(std::get<Hint::Sync>(hint.hint()->what).reader);
  }
  std::sort(run.readers.begin(), run.readers.end());
  run.readers.erase(std::unique(run.readers.begin(), run.readers.end()), run.readers.end());
  Audience& audience = audiences_.Of(unit.range);
  audience.Need(unit.id);
  if (!common_.setup.guards.syncs_hear_news) {
    std::erase_if(run.readers, [&](UserId reader) { return !audience.holds(reader); });
  }
  awaiting_ += run.readers.size();
}

void SyncRuns::ForgetUnit(uint64_t unit) {
  const auto found = runs_.find(unit);
  if (found == runs_.end()) return;
  awaiting_ -= found->second.readers.size();
  runs_.erase(found);
}

std::optional<RunStep> SyncRuns::OnNews(uint64_t unit, const Status& status) {
  const auto found = runs_.find(unit);
  if (found == runs_.end()) return std::nullopt;  // a post's, or its range was lost meanwhile
  Run& run = found->second;
  const std::vector<UserId> readers = std::exchange(run.readers, {});
  awaiting_ -= readers.size();
  if (status.done()) {
    const Audience& audience = audiences_.Of(run.range);
    const bool follows_the_dead =
        lists_.Has(run.range, run.author) && common_.setup.guards.lists_follow_the_dead;
    for (const UserId reader : readers) {
      const bool live = audience.holds(reader);
      const bool reads = live || (follows_the_dead && reader != run.author);
      if (reads) ReadTruth(run, {unit, reader, live, audience.heard()});
      run.open += reads;
    }
    if (run.open > 0) return std::nullopt;
  }
  runs_.erase(found);
  return RunStep{unit, status};
}

void SyncRuns::ReadTruth(const Run& run, const Call& call) {
  if (call.reader == run.author) {
    const Shard shard = common_.setup.shards.ShardOf(call.reader);
    ports_.truth.Submit(ReadMutes{NextCall(call), shard, call.reader});
    return;
  }
  const uint32_t window = call.live ? common_.limits.window.window : 0;
  ports_.truth.Submit(ReadSync{NextCall(call), call.reader, run.author, window});
}

uint64_t SyncRuns::NextCall(const Call& of) {
  calls_.emplace(++common_.ids, of);
  return common_.ids;
}

// `next` sends the next call of the chain; it returns false if this was the last one.
template <typename Next>
std::optional<RunStep> SyncRuns::Answered(uint64_t id, const Status& status, bool needs_claim,
                                          Next next) {
  const auto answered = calls_.extract(id);
  if (answered.empty()) return std::nullopt;
  const Call& call = answered.mapped();
  const auto found = runs_.find(call.unit);
  if (found == runs_.end()) return std::nullopt;  // its range was lost meanwhile
  Run& run = found->second;
  RunStep ended{call.unit, status, needs_claim};
  if (!needs_claim) {
    // A `never` prevails, or another reader's `later` would hide it at every attempt.
    if (!status.done() && !run.trouble.never()) run.trouble = status;
    if (run.trouble.done() && next(run, call)) return std::nullopt;
    if (--run.open > 0) return std::nullopt;
    ended.status = run.trouble;
  }
  runs_.erase(found);
  return ended;
}

std::optional<RunStep> SyncRuns::On(SyncTruth& truth) {
  const auto next = [&](const Run& run, const Call& call) {
    if (common_.setup.guards.lists_follow_syncs) {
      lists_.Set(run.range, run.author, call.reader, truth.following, truth.no_reposts);
    }
    if (!call.live) return false;
    ports_.timelines.Submit(ApplySync{NextCall(call), run.range, run.epoch, call.reader, run.author,
                                      std::move(truth.visible), truth.newest_unread, truth.marked,
                                      truth.no_reposts});
    return true;
  };
  return Answered(truth.id, truth.status, false, next);
}

std::optional<RunStep> SyncRuns::On(const MutesRead& read) {
  const auto next = [&](const Run& run, const Call& call) {
    if (!common_.setup.guards.syncs_mute) return false;
    ports_.timelines.Submit(
        SetMutes{NextCall(call), run.range, run.epoch, call.reader, read.mutes.mark()});
    return true;
  };
  return Answered(read.id, read.status, false, next);
}

std::optional<RunStep> SyncRuns::On(const MutesSet& set) {
  const auto last = [&](const Run& run, const Call& call) {
    if (set.full) ports_.metrics.Full(1);
    if (!set.live) audiences_.Of(run.range).NotLive(call.reader, call.heard);
    return false;
  };
  return Answered(set.id, set.status, set.needs_claim, last);
}

std::optional<RunStep> SyncRuns::On(const SyncApplied& applied) {
  const auto last = [&](const Run& run, const Call& call) {
    if (applied.full) ports_.metrics.Full(1);
    if (!applied.live) audiences_.Of(run.range).NotLive(call.reader, call.heard);
    return false;
  };
  return Answered(applied.id, applied.status, applied.needs_claim, last);
}

}  // namespace fanline::pusher
