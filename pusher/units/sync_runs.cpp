#include "pusher/units/sync_runs.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fanline::pusher {

void SyncRuns::Begin(const Unit& unit) {
  std::vector<UserId> readers;
  for (const ReceivedHint& hint : unit.hints) {
    readers.push_back(std::get<Hint::Sync>(hint.hint()->what).reader);
  }
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  runs_[unit.id] = {unit.range, unit.epoch, unit.author, readers.size(), Status::Done()};
  for (const UserId reader : readers) {
    if (reader == unit.author) {
      ports_.truth.Submit(
          ReadMutes{NextCall({unit.id, reader}), common_.setup.shards.ShardOf(reader), reader});
      continue;
    }
    ports_.timelines.Submit(
        ReadTimeline{NextCall({unit.id, reader}), unit.range, unit.epoch, reader});
  }
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
    if (--run.readers > 0) return std::nullopt;
    ended.status = run.trouble;
  }
  runs_.erase(found);
  return ended;
}

std::optional<RunStep> SyncRuns::On(TimelineRead& read) {
  const auto next = [&](const Run& run, const Call& call) {
    if (read.state == TimelineState::kNotLive) return ReadEdge(run, call);
    if (read.state == TimelineState::kBuilding) {
      ports_.timelines.Submit(DropTimeline{NextCall(call), run.range, run.epoch, call.reader});
    } else {
      ports_.truth.Submit(ReadSync{NextCall(call), call.reader, run.author, std::move(read.members),
                                   common_.limits.window.window});
    }
    return true;
  };
  return Answered(read.id, read.status, read.needs_claim, next);
}

// Reads the edge of a reader who has no timeline, for the list. Returns false without one.
bool SyncRuns::ReadEdge(const Run& run, Call call) {
  const bool listed = lists_.Has(run.range, run.author);
  if (!listed || !common_.setup.guards.lists_follow_the_dead) return false;
  call.edge_alone = true;
  ports_.truth.Submit(ReadSync{NextCall(call), call.reader, run.author, {}, 0});
  return true;
}

std::optional<RunStep> SyncRuns::On(SyncTruth& truth) {
  const auto next = [&](const Run& run, const Call& call) {
    if (common_.setup.guards.lists_follow_syncs) {
      lists_.Set(run.range, run.author, call.reader, truth.following);
    }
    if (call.edge_alone) return false;
    ports_.timelines.Submit(ApplySync{NextCall(call), run.range, run.epoch, call.reader,
                                      std::move(truth.remove), std::move(truth.visible),
                                      truth.newest_unread, run.author, truth.marked});
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
  const auto last = [&](const Run&, const Call&) {
    if (set.full) ports_.metrics.Full(1);
    return false;
  };
  return Answered(set.id, set.status, set.needs_claim, last);
}

std::optional<RunStep> SyncRuns::On(const SyncApplied& applied) {
  const auto last = [&](const Run&, const Call&) {
    if (applied.full) ports_.metrics.Full(1);
    return false;
  };
  return Answered(applied.id, applied.status, applied.needs_claim, last);
}

std::optional<RunStep> SyncRuns::On(const TimelineDropped& dropped) {
  const auto next = [&](const Run& run, const Call& call) { return ReadEdge(run, call); };
  return Answered(dropped.id, dropped.status, dropped.needs_claim, next);
}

}  // namespace fanline::pusher
