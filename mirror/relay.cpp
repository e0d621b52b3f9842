#include "mirror/relay.h"

#include <algorithm>

#include "fanline/consuming/answered.h"
#include "fanline/ports/friendship_edges.h"

namespace fanline::mirror {
namespace {

constexpr Time kWhenAnswered = Time::max();

// Why nobody could apply what the row says; "": somebody can.
std::string WhyDamaged(const LoggedChange& change) {
  if (change.kind != ChangeKind::kEdge && change.kind != ChangeKind::kFriendship) {
    return "kind: found " + std::to_string(static_cast<int>(change.kind)) + "; send 1 or 2";
  }
  const auto refused = WhyRefused({change.edge, change.id});
  return refused ? refused->reason : "";
}

// Only an edge has a message. A replay of another kind's letter must not become a change.
Record RecordOf(Shard shard, const LoggedChange& change) {
  const bool edge = change.kind == ChangeKind::kEdge;
  return {.topic = kRelationLogTopic,
          .partition = static_cast<int32_t>(shard),
          .offset = static_cast<int64_t>(change.id),
          .timestamp = change.written_at,
          .key = RelationLogKey(change.edge.key()),
          .value = edge ? EncodeRelationMessage(EdgeWritten{change.edge, change.id}) : "",
          .headers = {}};
}

}  // namespace

Relay::Relay(Ports ports, Setup setup, const Limits& limits)
    : ports_(ports),
      setup_(std::move(setup)),
      limits_(limits),
      random_(setup_.seed),
      shards_(setup_.shards.shards()) {}

std::vector<Shard> Relay::ShardsOf(int32_t partition) const {
  std::vector<Shard> shards;
  for (Shard shard = 0; shard < shards_.size(); ++shard) {
    if (shard % setup_.partitions == static_cast<uint32_t>(partition)) shards.push_back(shard);
  }
  return shards;
}

void Relay::On(const PartitionAssigned& assigned, Now now) {
  for (const Shard shard : ShardsOf(assigned.partition)) {
    ShardState& state = shards_[shard];
    const bool reading = state.reading;
    const bool purging = state.purging;
    state = ShardState{};
    state.owned = true;
    state.reading = reading;  // an earlier assignment's read still counts
    state.purging = purging;
    state.purge_at = now.mono + limits_.purge_every;
  }
}

void Relay::On(const PartitionRevoked& revoked) {
  for (const Shard shard : ShardsOf(revoked.partition)) {
    ShardState& state = shards_[shard];
    state.owned = false;
    state.under_way.clear();
    state.share.clear();
    ports_.metrics.Pending(shard, 0, Duration{0});
  }
}

std::optional<Time> Relay::Send(Now now) {
  std::optional<Time> next;
  if (!taking_) return next;
  for (Shard shard = 0; shard < shards_.size(); ++shard) {
    ShardState& state = shards_[shard];
    if (!state.owned) continue;
    if (!state.reading) SendRead(shard, now);
    if (!state.reading) next = Earlier(next, state.poll_at);
    if (!state.purging && state.purge_at <= now.mono) {
      const uint64_t id = ++ids_;
      state.purging = true;
      purges_.emplace(id, shard);
      ports_.log.Submit(PurgeDone{id, shard, limits_.keep_done, limits_.rows_per_purge});
    }
    if (!state.purging) next = Earlier(next, state.purge_at);
  }
  return next;
}

// ---- reading --------------------------------------------------------------------------------

void Relay::SendRead(Shard shard, Now now) {
  ShardState& state = shards_[shard];
  if (state.poll_at > now.mono) return;
  if (!state.passing && state.pass_at <= now.mono) {
    state.passing = true;
    ++state.pass;
    state.pass_began = now.mono;
    state.after = 0;
    state.rows = 0;
  }
  const uint64_t id = ++ids_;
  // New rows do not wait for the end of a long pass.
  const bool due = state.paged && state.polled_at + limits_.poll_every <= now.mono;
  const bool poll = !state.passing || (due && state.after < state.newest);
  const uint64_t after = poll ? state.newest : state.after;
  if (poll) state.polled_at = now.mono;
  state.paged = !poll;
  state.reading = true;
  reads_.emplace(id, Read{shard, !poll});
  ports_.log.Submit(ReadPending{id, shard, after, limits_.rows_per_read});
}

void Relay::On(const PendingRead& read, Now now) {
  const Read asked = TakeAnswered(reads_, read.id);
  ShardState& state = shards_[asked.shard];
  state.reading = false;
  if (!state.owned) return;
  if (!read.status.done()) {
    ports_.metrics.Parked(read.status.resource);
    state.poll_at = now.mono + limits_.backoff.Delay(++state.attempts, random_());
    state.newest = state.passing ? state.after : 0;
    return;
  }
  state.attempts = 0;
  Take(asked.shard, read.changes, now);
  const bool more = read.changes.size() >= limits_.rows_per_read;
  const bool page = asked.pass && state.passing;  // an earlier assignment's pass ends nothing
  if (!more && (page || !state.passing)) state.poll_at = now.mono + limits_.poll_every;
  if (!page) return;
  if (!read.changes.empty()) {
    if (state.rows == 0) state.oldest = read.changes.front().written_at;
    state.rows += read.changes.size();
    state.after = read.changes.back().id;
  }
  if (!more) EndPass(asked.shard, now);
}

// Rows that the pass did not find are done. A pass reads all pending rows, even without room for
// more, because those under way lie anywhere among those that wait.
void Relay::EndPass(Shard shard, Now now) {
  ShardState& state = shards_[shard];
  state.passing = false;
  state.pass_at = now.mono + limits_.pass_every;
  std::erase_if(state.under_way, [&](const auto& each) {
    const Row& row = each.second;
    const bool waiting = row.retry_at == kWhenAnswered;
    const bool gone = !waiting && row.pass != state.pass && row.taken_at < state.pass_began;
    if (gone) --state.share[row.destination];
    return gone;
  });
  const UnixMs age = state.rows == 0 ? 0 : std::max<UnixMs>(0, now.unix_ms - state.oldest);
  ports_.metrics.Pending(shard, state.rows, std::chrono::milliseconds(age));
}

// ---- relaying -------------------------------------------------------------------------------

void Relay::Take(Shard shard, const std::vector<LoggedChange>& changes, Now now) {
  ShardState& state = shards_[shard];
  AppendRelations request{++ids_, {}, {}};
  Sent sent{shard, {}};
  for (const LoggedChange& change : changes) {
    state.newest = std::max(state.newest, change.id);
    const Shard destination = setup_.shards.ShardOf(change.edge.dst);
    const auto known = state.under_way.find(change.id);
    if (known != state.under_way.end() && known->second.name != change.row()) {
      Forget(state, change.id);
    }
    if (!state.under_way.contains(change.id)) {
      if (!HasRoom(state, destination)) continue;
      state.share.resize(shards_.size());
      ++state.share[destination];
      Row& taken = state.under_way[change.id];
      taken.name = change.row();
      taken.destination = destination;
    }
    Row& row = state.under_way[change.id];
    row.pass = state.pass;
    if (row.relays > 0 && row.retry_at > now.mono) continue;
    ++row.relays;
    row.taken_at = now.mono;
    row.retry_at = kWhenAnswered;
    if (const std::string why = WhyDamaged(change); !why.empty()) {
      SetAside(shard, change, why);
    } else if (change.kind == ChangeKind::kFriendship) {
      RelayFriendship(shard, change);
    } else {
      request.messages.emplace_back(EdgeWritten{change.edge, change.id});
      sent.rows.push_back(change.row());
    }
  }
  if (sent.rows.empty()) return;
  sent_.emplace(request.id, std::move(sent));
  ports_.relations.Submit(std::move(request));
}

bool Relay::HasRoom(const ShardState& state, Shard destination) const {
  return state.share.empty() || state.share[destination] < limits_.rows_under_way / shards_.size();
}

void Relay::RelayFriendship(Shard shard, const LoggedChange& change) {
  Row& row = shards_[shard].under_way.at(change.id);
  row.failed.reset();
  const auto edges = EdgesOfFriendship(change);
  for (size_t i = 0; i < edges.size(); ++i) {
    row.halves[i] = ++ids_;
    halves_.emplace(row.halves[i], Sent{shard, {change.row()}});
    ports_.forward.Submit(ChangeEdge{row.halves[i], edges[i]});
  }
}

// Both edges carry the pair's version. The row is done when both are written, now or before.
void Relay::On(const EdgeChanged& changed, Now now) {
  if (changed.forward.below_zero) ports_.metrics.BelowZero(1);
  const Sent sent = TakeAnswered(halves_, changed.id);
  Row* row = Find(sent.shard, sent.rows.front());
  if (row == nullptr) return;  // no longer under way here
  const auto half = std::find(row->halves.begin(), row->halves.end(), changed.id);
  if (half == row->halves.end()) return;  // relayed anew since: only those replies count
  *half = 0;
  if (!changed.status.done()) row->failed = changed.status;
  if (row->halves != std::array<uint64_t, 2>{}) return;
  if (row->failed) return ScheduleRetry(sent.shard, sent.rows, *row->failed, now);
  SendMark(sent.shard, sent.rows.front());
}

void Relay::SendMark(Shard shard, const LogRow& row) {
  const uint64_t id = ++ids_;
  sent_.emplace(id, Sent{shard, {row}});
  ports_.log.Submit(MarkDone{id, shard, {row}});
}

// ---- damaged rows ---------------------------------------------------------------------------

void Relay::SetAside(Shard shard, const LoggedChange& change, const std::string& why) {
  const Row& row = shards_[shard].under_way.at(change.id);
  if (row.told) return SendMark(shard, change.row());
  const std::string reason = "row " + std::to_string(change.id) + " of log1 on shard " +
                             std::to_string(shard) + ": " + why;
  if (row.relays == 1) ports_.metrics.Rejected(reason);
  const uint64_t id = ++ids_;
  sent_.emplace(id, Sent{shard, {change.row()}});
  ports_.dead_letters.Submit({id, {RecordOf(shard, change), "mirror", reason}});
}

void Relay::On(const DeadLetterAppended& appended, Now now) {
  const Sent sent = TakeAnswered(sent_, appended.id);
  if (!appended.status.done()) return ScheduleRetry(sent.shard, sent.rows, appended.status, now);
  if (Row* row = Find(sent.shard, sent.rows.front())) row->told = true;
  SendMark(sent.shard, sent.rows.front());
}

// ---- answers --------------------------------------------------------------------------------

void Relay::On(const RelationsAppended& appended, Now now) {
  const Sent sent = TakeAnswered(sent_, appended.id);
  ScheduleRetry(sent.shard, sent.rows, appended.status, now);
}

void Relay::On(const MarkedDone& marked, Now now) {
  const Sent sent = TakeAnswered(sent_, marked.id);
  ScheduleRetry(sent.shard, sent.rows, marked.status, now);
}

// Sets when these rows are relayed again if they are still pending.
void Relay::ScheduleRetry(Shard shard, const std::vector<LogRow>& rows, const Status& status,
                          Now now) {
  if (status.later()) ports_.metrics.Parked(status.resource);
  for (const LogRow& each : rows) {
    Row* row = Find(shard, each);
    if (row == nullptr) continue;
    const Backoff& backoff = status.later() ? limits_.backoff : limits_.relay_again;
    row->retry_at = now.mono + backoff.Delay(row->relays, random_());
  }
}

Relay::Row* Relay::Find(Shard shard, const LogRow& row) {
  auto& rows = shards_[shard].under_way;
  const auto found = rows.find(row.id);
  return found == rows.end() || found->second.name != row ? nullptr : &found->second;
}

void Relay::Forget(ShardState& state, uint64_t id) {
  const auto found = state.under_way.find(id);
  --state.share[found->second.destination];
  state.under_way.erase(found);
}

void Relay::On(const PurgedDone& purged, Now now) {
  const Shard shard = TakeAnswered(purges_, purged.id);
  ShardState& state = shards_[shard];
  state.purging = false;
  const bool more = purged.status.done() && purged.deleted >= limits_.rows_per_purge;
  state.purge_at = more ? now.mono : now.mono + limits_.purge_every;
}

}  // namespace fanline::mirror
