#include "reconciler/tombstone_collector.h"

#include <algorithm>
#include <utility>

#include "fanline/consuming/answered.h"

namespace fanline::reconciler {

TombstoneCollector::TombstoneCollector(const Store& store, Metrics& metrics, const RepairGate& gate,
                                       const ShardMap& map, const TombstoneLimits& limits)
    : store_(store),
      metrics_(metrics),
      gate_(gate),
      map_(map),
      limits_(limits),
      sweeps_(map.shards()) {}

Progress TombstoneCollector::Step(std::span<TombstoneInput> inputs, Now now) {
  for (const TombstoneInput& input : inputs) {
    std::visit([&](const auto& what) { On(what, now); }, input);
  }
  Progress progress;
  if (!taking_) return progress;
  AskPasses(now);
  progress.StepBy(ask_at_);
  for (Shard shard = 0; shard < sweeps_.size(); ++shard) {
    Sweep& sweep = sweeps_[shard];
    if (sweep.open > 0 || passed_ == 0) continue;
    if (sweep.next_at <= now.mono) Begin(shard, now);
    if (sweep.open == 0) progress.StepBy(sweep.next_at);
  }
  return progress;
}

// ---- passes -----------------------------------------------------------------------------------

void TombstoneCollector::AskPasses(Now now) {
  if (ask_at_ > now.mono) return;
  ask_at_ = now.mono + limits_.ask_every;
  if (passes_open_ > 0 || !may()) return;
  passes_open_ = map_.shards();
  round_ = now.unix_ms;
  for (Shard shard = 0; shard < map_.shards(); ++shard) {
    store_.Submit(ReadScanPassed{++last_id_, shard});
  }
}

// A shard that does not answer has perhaps never passed.
void TombstoneCollector::On(const ScanPassed& passed, Now) {
  if (passed.status.later()) metrics_.Parked(passed.status.resource);
  round_ = std::min(round_, passed.status.done() ? passed.passed : 0);
  if (--passes_open_ == 0) passed_ = round_;
}

// ---- pages ------------------------------------------------------------------------------------

void TombstoneCollector::Begin(Shard shard, Now now) {
  Sweep& sweep = sweeps_[shard];
  if (!may()) {
    sweep.next_at = now.mono + limits_.ask_every;
    return;
  }
  sweep.failed = false;
  if (sweep.before == 0) {
    const UnixMs before = passed_ - Milliseconds(limits_.keep);
    if (before <= 0) {
      sweep.next_at = now.mono + limits_.ask_every;
      return;
    }
    sweep.before = before;
    store_.Submit(RaiseHorizon{Ask(shard), shard, before + Milliseconds(limits_.slack)});
    return;
  }
  sweep.page_from = now.mono;
  sweep.gone.clear();
  const auto every = std::chrono::duration_cast<std::chrono::seconds>(limits_.sweep_every);
  store_.Submit(ReadTombstones{Ask(shard), shard, sweep.before, limits_.rows_per_page, every});
}

void TombstoneCollector::On(const HorizonRaised& raised, Now now) {
  const Shard shard = Answered(raised.id, raised.status).of;
  if (!raised.status.done()) return Fail(shard, now);
  sweeps_[shard].next_at = now.mono + limits_.settle;
  metrics_.HorizonRaised(sweeps_[shard].before + Milliseconds(limits_.slack));
}

void TombstoneCollector::On(const TombstonesRead& read, Now now) {
  const Shard shard = Answered(read.id, read.status).of;
  if (!read.status.done()) return Fail(shard, now);
  Sweep& sweep = sweeps_[shard];
  if (!read.due) {  // the next one takes a new horizon
    sweep.before = 0;
    sweep.next_at = now.mono + limits_.ask_every;
    return;
  }
  sweep.page = read;
  std::map<Shard, std::vector<Tombstone>> by_shard;
  for (const Tombstone& tombstone : read.tombstones) {
    by_shard[map_.ShardOf(tombstone.edge.dst)].push_back(tombstone);
  }
  if (by_shard.empty()) return Move(shard);
  for (auto& [of, tombstones] : by_shard) {
    store_.Submit(DropTombstones{Ask(shard, true), of, true, sweep.before, std::move(tombstones)});
  }
}

void TombstoneCollector::On(const TombstonesDropped& dropped, Now now) {
  const auto [shard, reverse] = Answered(dropped.id, dropped.status);
  Sweep& sweep = sweeps_[shard];
  if (dropped.status.done()) {
    metrics_.TombstonesCollected(reverse, dropped.deleted);
  } else {
    sweep.failed = true;
  }
  if (!reverse) return sweep.failed ? Fail(shard, now) : Move(shard);
  if (dropped.status.done()) {
    sweep.gone.insert(sweep.gone.end(), dropped.gone.begin(), dropped.gone.end());
  }
  if (sweep.open == 0) DropForward(shard, now);
}

// Also after a failure: what is half deleted is finished, and the page is read again.
void TombstoneCollector::DropForward(Shard shard, Now now) {
  Sweep& sweep = sweeps_[shard];
  if (sweep.gone.empty()) return sweep.failed ? Fail(shard, now) : Move(shard);
  store_.Submit(DropTombstones{Ask(shard), shard, false, sweep.before, std::move(sweep.gone)});
}

void TombstoneCollector::Move(Shard shard) {
  const TombstonesRead& page = sweeps_[shard].page;
  const EdgeKey to = page.over ? EdgeKey{} : page.last;
  store_.Submit(MoveTombstoneSweep{Ask(shard), shard, page.after, to});
}

void TombstoneCollector::On(const TombstoneSweepMoved& moved, Now now) {
  const Shard shard = Answered(moved.id, moved.status).of;
  if (!moved.status.done()) return Fail(shard, now);
  Sweep& sweep = sweeps_[shard];
  const Duration pace =
      std::chrono::duration_cast<Duration>(std::chrono::seconds(sweep.page.rows)) /
      limits_.rows_per_second;
  if (sweep.page.over) sweep.before = 0;
  sweep.next_at =
      now.mono + (sweep.page.over ? limits_.ask_every : std::max(pace, now.mono - sweep.page_from));
}

void TombstoneCollector::Fail(Shard shard, Now now) {
  sweeps_[shard].before = 0;
  sweeps_[shard].next_at = now.mono + limits_.after_failure;
}

// ---- requests -----------------------------------------------------------------------------------

uint64_t TombstoneCollector::Ask(Shard of, bool reverse) {
  asked_.emplace(++last_id_, Asked{of, reverse});
  ++sweeps_[of].open;
  return last_id_;
}

TombstoneCollector::Asked TombstoneCollector::Answered(uint64_t id, const Status& status) {
  if (status.later()) metrics_.Parked(status.resource);
  const Asked asked = TakeAnswered(asked_, id);
  --sweeps_[asked.of].open;
  return asked;
}

}  // namespace fanline::reconciler
