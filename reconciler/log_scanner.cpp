#include "reconciler/log_scanner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fanline/consuming/answered.h"

namespace fanline::reconciler {

LogScanner::LogScanner(const Ports& ports, const Checker::Setup& setup, uint32_t partitions,
                       const EdgeComparer::Limits& comparing, const LogScanLimits& limits,
                       RepairGate& gate)
    : ports_(ports),
      shards_(setup.shards),
      partitions_(partitions),
      limits_(limits),
      gate_(gate),
      comparer_(Net::kLog, ports.comparer, setup, comparing, gate),
      random_(setup.seed),
      states_(setup.shards.forward.shards()) {}

Progress LogScanner::Step(std::span<LogScanInput> inputs, Now now) {
  for (const LogScanInput& input : inputs) {
    std::visit([&](const auto& what) { On(what, now); }, input);
  }
  Progress progress;
  for (Shard shard = 0; shard < states_.size(); ++shard) {
    ShardState& state = states_[shard];
    if (!taking_ || !state.ours || state.busy) continue;
    if (state.next_at <= now.mono) Begin(shard, now);
    if (!state.busy) progress.StepBy(state.next_at);
  }
  progress.StepBy(comparer_.Send(now));
  const std::vector<uint64_t> finished = comparer_.TakeFinished();
  for (const uint64_t ticket : finished) FinishOne(TakeAnswered(tickets_, ticket), true, now);
  return progress;
}

void LogScanner::Own(const std::vector<int32_t>& partitions) {
  const std::set<int32_t> owned(partitions.begin(), partitions.end());
  for (Shard shard = 0; shard < states_.size(); ++shard) {
    const size_t partition = size_t{shard} * partitions_ / states_.size();
    states_[shard].ours = owned.contains(static_cast<int32_t>(partition));
  }
}

void LogScanner::StopTaking() {
  taking_ = false;
  comparer_.StopTaking();
}

// ---- pages ----------------------------------------------------------------------------------

void LogScanner::Begin(Shard shard, Now now) {
  ShardState& state = states_[shard];
  state.next_at = now.mono + limits_.poll_every;
  Report(now);
  if (gate_.mode() == ReconcilerMode::kPause) return;
  state.busy = true;
  const uint64_t id = Asked();
  pages_.emplace(id, shard);
  const std::chrono::milliseconds age(Milliseconds(limits_.after));
  ports_.log.Submit(ReadLogged{id, shard, age, limits_.rows});
}

void LogScanner::On(const LoggedRead& read, Now now) {
  --under_way_;
  const Shard shard = TakeAnswered(pages_, read.id);
  ShardState& state = states_[shard];
  if (!read.status.done()) {
    ports_.metrics.Parked(read.status.resource);
    return Fail(shard, now);
  }
  state.page = read;
  if (read.passed > 0) state.up_to = read.passed;
  Report(now);
  state.failed = false;
  state.open = 1;  // the page itself, until all of it is ordered
  std::vector<LoggedChange> friendships;
  for (const LoggedChange& change : read.changes) {
    // The mirror has set a damaged row aside; mutes are no edge.
    if (change.kind == ChangeKind::kMutes || WhyDamaged(change)) continue;
    if (change.kind == ChangeKind::kFriendship) {
      friendships.push_back(change);
      continue;
    }
    ++state.open;
    tickets_.emplace(++ids_, shard);
    comparer_.Compare({ids_, change.edge.key(), {change.edge.state(), true}});
  }
  if (!read.changes.empty()) ports_.metrics.Scanned(Scan::kLog1, read.changes.size());
  CompareFriends(shard, friendships);
  FinishOne(shard, true, now);
}

void LogScanner::FinishOne(Shard shard, bool done, Now now) {
  ShardState& state = states_[shard];
  state.failed |= !done;
  if (--state.open > 0) return;
  if (state.failed) return Fail(shard, now);
  const uint64_t id = Asked();
  moves_.emplace(id, shard);
  const LoggedRead& page = state.page;
  ports_.log.Submit(MoveLogScan{id, shard, page.place, page.last, page.up_to});
}

void LogScanner::On(const LogScanMoved& moved, Now now) {
  --under_way_;
  const Shard shard = TakeAnswered(moves_, moved.id);
  if (!moved.status.done()) return Fail(shard, now);
  ShardState& state = states_[shard];
  state.busy = false;
  state.attempts = 0;
  state.up_to = state.page.up_to;
  if (state.page.more) state.next_at = now.mono;
  Report(now);
}

// The page is read again.
void LogScanner::Fail(Shard shard, Now now) {
  ShardState& state = states_[shard];
  state.busy = false;
  state.next_at = now.mono + limits_.again.Delay(++state.attempts, random_());
}

void LogScanner::Report(Now now) {
  UnixMs oldest = now.unix_ms;
  for (const ShardState& state : states_) {
    if (state.ours && state.up_to) oldest = std::min(oldest, *state.up_to);
  }
  ports_.metrics.Unscanned(Scan::kLog1, std::chrono::milliseconds(now.unix_ms - oldest));
}

// ---- friendships ----------------------------------------------------------------------------

void LogScanner::CompareFriends(Shard shard, const std::vector<LoggedChange>& changes) {
  std::map<Shard, ReadFriendVersions> requests;
  std::map<Shard, std::vector<std::pair<uint64_t, uint64_t>>> wanted;
  for (const LoggedChange& change : changes) {
    const uint64_t id = ++ids_;
    const EdgeKey there = change.edge.key(), back{there.dst, there.src};
    for (const EdgeKey& edge : {there, back}) {
      const Shard of = shards_.forward.ShardOf(edge.src);
      requests[of].edges.push_back(edge);
      wanted[of].emplace_back(id, change.edge.ver);
    }
    friends_.emplace(id, Friends{shard, change, 2});
    ++states_[shard].open;
  }
  for (auto& [of, request] : requests) {
    request.id = Asked();
    request.shard = of;
    asked_.emplace(request.id, std::move(wanted[of]));
    ports_.log.Submit(std::move(request));
  }
}

void LogScanner::On(const FriendVersionsRead& read, Now now) {
  --under_way_;
  const bool known = read.status.done();
  if (!known) ports_.metrics.Parked(read.status.resource);
  const auto wanted = TakeAnswered(asked_, read.id);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto& [id, ver] = wanted[i];
    Friends& friends = friends_.at(id);
    friends.known &= known;
    friends.lacking |= known && read.versions[i] < ver;
    if (--friends.awaited == 0) Judge(id, now);
  }
}

void LogScanner::Judge(uint64_t id, Now now) {
  const Friends& friends = friends_.at(id);
  if (friends.known && !friends.lacking) return Finish(id, true, now);
  if (!taking_ || gate_.mode() == ReconcilerMode::kPause) return Finish(id, false, now);
  if (!friends.lacking) return LogAgainFor(id);
  const Edge& edge = friends.change.edge;
  if (gate_.mode() == ReconcilerMode::kDryRun) {
    ports_.metrics.WouldRepair(edge.key(), {.state = edge.state()});
    return Finish(id, true, now);
  }
  const uint64_t request = Asked();
  recording_.emplace(request, id);
  const std::string after = (edge.live ? "friends@" : "ended@") + std::to_string(edge.ver);
  ports_.repairs.Submit(LogRepair{request, NameOf(Net::kLog), "friendship", edge.key(),
                                  "older at an edge", after, edge.ver});
}

void LogScanner::On(const RepairLogged& logged, Now now) {
  --under_way_;
  const uint64_t id = TakeAnswered(recording_, logged.id);
  logged.status.done() ? LogAgainFor(id) : Finish(id, false, now);
}

void LogScanner::LogAgainFor(uint64_t id) {
  const Friends& friends = friends_.at(id);
  const uint64_t request = Asked();
  logging_.emplace(request, id);
  ports_.log.Submit(LogAgain{request, friends.shard, friends.change});
}

void LogScanner::On(const LoggedAgain& logged, Now now) {
  --under_way_;
  const uint64_t id = TakeAnswered(logging_, logged.id);
  const Friends& friends = friends_.at(id);
  if (logged.status.done() && friends.lacking) {
    const auto age = std::max<UnixMs>(0, now.unix_ms - friends.change.written_at);
    ports_.metrics.FriendshipRepaired(std::chrono::milliseconds(age));
  }
  Finish(id, logged.status.done(), now);
}

void LogScanner::Finish(uint64_t id, bool done, Now now) {
  const Shard shard = friends_.extract(id).mapped().shard;
  FinishOne(shard, done, now);
}

}  // namespace fanline::reconciler
