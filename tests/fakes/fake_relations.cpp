#include "tests/fakes/fake_relations.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fanline/wire/edge_fold.h"

namespace fanline::fakes {

EdgesApplied FakeRelations::Do(const ApplyEdges& request) {
  std::vector<Edge> rows;
  for (const EdgeKey& key : EdgesToLock(request.edges)) {
    const auto found = reverse_.find(key);
    if (found != reverse_.end()) rows.push_back(EdgeOf(key, found->second));
  }
  const Folded folded = Fold(request.edges, rows);
  for (const Edge& row : folded.rows) {
    EdgeState& kept = reverse_[row.key()];
    applied_.push_back({row, kept});
    const Delivery before = kept.delivery;
    kept = row.state();
    if (!choices_mirrored) kept.delivery = before;
  }
  for (const CounterChange& counter : folded.counters) fans_[counter.user] += counter.by;
  EdgesApplied reply{.id = request.id};
  std::vector<Edge> untold = folded.rows;  // of equal edges the first has written the row
  for (size_t i = 0; i < request.edges.size(); ++i) {
    const auto row = std::find(untold.begin(), untold.end(), request.edges[i]);
    reply.applied.push_back({folded.mirrored[i].ver, row != untold.end()});
    if (row != untold.end()) untold.erase(row);
  }
  return reply;
}

Delivery FakeRelations::DeliveryAfter(const EdgeChange& change, const EdgeState& before,
                                      bool live) const {
  if (!live && unfollows_reset) return Delivery::kAll;
  if (change.origin == Origin::kFriendship && !friendships_keep) return Delivery::kAll;
  return change.delivery.value_or(before.delivery);
}

EdgeChanged FakeRelations::Do(const ChangeEdge& request) {
  EdgeChanged reply{.id = request.id};
  const EdgeChange& change = request.change;
  const EdgeKey key{change.src, change.dst};
  if (change.src == change.dst) {
    reply.status = Status::Never("nobody follows themselves");
    return reply;
  }
  const EdgeState before = forward_.contains(key) ? forward_[key] : EdgeState{};
  reply.forward.edge = EdgeOf(key, before);
  Origins seen = origins_[key];
  const Origins origins_before = seen;
  if (change.origin != Origin::kUser) {
    uint64_t& version = change.origin == Origin::kApplication ? seen.application : seen.friendship;
    const bool guarded = change.origin != Origin::kApplication || application_versions;
    if (change.origin_version <= version && guarded) return reply;
    version = change.origin_version;
  }
  if (change.live && !change.chooses() && !before.live && change.origin != Origin::kFriendship &&
      Followed(change.src) >= most_followed) {
    reply.forward = {.edge = EdgeOf(key, {}), .changed = false, .over_limit = true};
    reply.status = Status::Never("follows as many already");
    return reply;
  }
  if (change.origin != Origin::kFriendship && changes_settle &&
      !(change.chooses() && choices_settle_nothing)) {
    seen.friendship = std::max(seen.friendship, seen.announced);
  }
  origins_[key] = seen;
  const bool live = change.chooses() ? before.live : change.live;
  const Delivery delivery = DeliveryAfter(change, before, live);
  const bool leaves_nothing = change.origin == Origin::kUser && before.ver == 0 && !live;
  const bool same = before.live == live && before.delivery == delivery;
  if (leaves_nothing || (before.ver > 0 && same)) return reply;
  const auto pos = static_cast<UnixMs>(change.unix_us / 1000);
  const EdgeState after{std::max(before.ver + 1, change.unix_us), live,
                        live && !before.live ? pos : before.pos, delivery};
  forward_[key] = after;
  reply.forward.edge = EdgeOf(key, after);
  reply.forward.changed = true;
  LogEdge(reply.forward.edge, before, origins_before);
  return reply;
}

PendingRead FakeRelations::Do(const ReadPending& request) const {
  PendingRead reply{.id = request.id};
  const Table& table = log_.at(request.shard);
  if (request.after == 0 && !table.rows.empty()) reply.newest = table.rows.rbegin()->first;
  for (auto row = table.rows.upper_bound(request.after); row != table.rows.end(); ++row) {
    if (reply.changes.size() >= request.limit) break;
    if (!row->second.done) reply.changes.push_back(row->second.change);
  }
  return reply;
}

PendingAsked FakeRelations::Do(const AskPending& request) const {
  PendingAsked reply{request.id, {}, {}};
  const auto& rows = log_.at(request.shard).rows;
  for (const uint64_t id : std::set(request.log_ids.begin(), request.log_ids.end())) {
    const auto row = rows.find(id);
    if (row != rows.end() && !row->second.done) reply.pending.push_back(row->second.change);
  }
  return reply;
}

MarkedDone FakeRelations::Do(const MarkDone& request) {
  for (const LogRow& row : request.rows) {
    const auto found = log_.at(request.shard).rows.find(row.id);
    if (found == log_[request.shard].rows.end()) continue;
    if (found->second.change.row() == row) found->second.done = true;
  }
  return {request.id, {}};
}

void FakeRelations::Finish(Shard shard, const std::vector<uint64_t>& ids) {
  for (const uint64_t id : ids) log_.at(shard).rows.at(id).done = true;
}

void FakeRelations::LoseRows(Shard shard, uint64_t last) {
  Table& table = log_.at(shard);
  table.ids -= last;
  table.rows.erase(table.rows.upper_bound(table.ids), table.rows.end());
}

PurgedDone FakeRelations::Do(const PurgeDone& request) {
  const UnixMs oldest = now - std::chrono::milliseconds(request.keep).count();
  PurgedDone reply{.id = request.id};
  uint32_t looked_at = 0;
  const uint64_t behind = log_.at(request.shard).scanned.value_or(UINT64_MAX);
  reply.deleted = std::erase_if(log_.at(request.shard).rows, [&](const auto& each) {
    if (!each.second.done || each.first > behind || ++looked_at > request.most) return false;
    return each.second.change.written_at < oldest;
  });
  return reply;
}

EdgeAdopted FakeRelations::Do(const AdoptEdge& request) {
  const EdgeKey key = request.edge.key();
  EdgeAdopted reply{request.id, {}, Wins(request.edge.state(), forward_[key]), {}};
  if (reply.adopted) {
    const EdgeState before = std::exchange(forward_[key], request.edge.state());
    LogEdge(request.edge, before, origins_[key]);
  }
  reply.edge = EdgeOf(key, forward_[key]);
  return reply;
}

Edge FakeRelations::Change(UserId src, UserId dst, bool live, Origin origin,
                           uint64_t origin_version) {
  const auto unix_us = static_cast<uint64_t>(now) * 1000;
  return Do(ChangeEdge{0, {src, dst, live, unix_us, origin, origin_version}}).forward.edge;
}

Edge FakeRelations::Choose(UserId src, UserId dst, Delivery delivery) {
  EdgeChange change{src, dst, true, static_cast<uint64_t>(now) * 1000};
  change.delivery = delivery;
  return Do(ChangeEdge{0, change}).forward.edge;
}

void FakeRelations::Import(const EdgeKey& key) {
  forward_[key] = {static_cast<uint64_t>(now) * 1000, true, now};
  reverse_[key] = forward_[key];
  ++fans_[key.dst];
}

uint64_t FakeRelations::Befriend(UserId low, UserId high, bool friends, uint64_t version) {
  const EdgeKey one{low, high}, other{high, low};
  version = std::max({version, origins_[one].friendship + 1, origins_[other].friendship + 1});
  Announce(one, version);
  Announce(other, version);
  Log(shards_.ShardOf(low), {0, ChangeKind::kFriendship, {low, high, version, friends, now}, now});
  return version;
}

uint64_t FakeRelations::Announce(const EdgeKey& key, uint64_t version) {
  Origins& origins = origins_[key];
  origins.announced = std::max(origins.announced, version);
  if (forward_.contains(key)) return origins.friendship;
  const uint64_t row = std::exchange(next_row, 0);  // meant for the friendship's own
  forward_[key] = {1, false, 0};
  Log(shards_.ShardOf(key.src), {0, ChangeKind::kEdge, EdgeOf(key, forward_[key]), now});
  next_row = row;
  return origins.friendship;
}

Friendship FakeRelations::Pair(UserId low, UserId high) const {
  const auto found = pairs_.find({low, high});
  return found == pairs_.end() ? Friendship{} : found->second;
}

FriendshipRead FakeRelations::Do(const ReadFriendship& request) const {
  const auto [low, high] = std::minmax(request.one, request.other);
  return {request.id, {}, Pair(low, high)};
}

RoomAsked FakeRelations::Do(const AskRoom& request) const {
  const auto row = forward_.find(request.edge);
  const bool follows = row != forward_.end() && row->second.live;
  if (follows || Followed(request.edge.src) < most_followed) return {request.id, {}, {}};
  return {request.id, Status::Never("follows as many already"), request.edge.src};
}

PairAnnounced FakeRelations::Do(const AnnouncePair& request) {
  return {request.id, {}, Announce(request.edge, request.version)};
}

FriendshipWritten FakeRelations::Do(const WriteFriendship& request) {
  const auto [low, high] = std::minmax(request.who, request.whom);
  FriendshipWritten reply{request.id, {}, Pair(low, high)};
  const FriendStep step = Decide(reply.now, request.action, request.who);
  if (!step.changes) return reply;
  const bool logs = BeginsOrEnds(reply.now.state, step.state);
  reply.overtaken = reply.now.ver >= request.version || (logs && !request.announced);
  if (reply.overtaken) return reply;
  reply.changed = true;
  reply.now = {step.state, step.asked_by, request.version};
  pairs_[{low, high}] = reply.now;
  if (!logs) return reply;
  const auto agreed_at = static_cast<UnixMs>(request.unix_us / 1000);
  const Edge pair{low, high, request.version, step.state == FriendState::kFriends, agreed_at};
  Log(shards_.ShardOf(low), {0, ChangeKind::kFriendship, pair, now});
  return reply;
}

MutesChanged FakeRelations::Do(const ChangeMutes& request) {
  MutesChanged reply = Decide(mutes(request.user), request);
  reply.id = request.id;
  if (!reply.changed) return reply;
  mutes_[request.user] = reply.now;
  const Edge row{request.user, request.user, reply.now.version, true,
                 static_cast<UnixMs>(request.unix_us / 1000)};
  Log(shards_.ShardOf(request.user), {0, ChangeKind::kMutes, row, now});
  return reply;
}

const Mutes& FakeRelations::mutes(UserId reader) const {
  static const Mutes none;
  const auto found = mutes_.find(reader);
  return found == mutes_.end() ? none : found->second;
}

bool FakeRelations::AwaitsFriendship(const EdgeKey& key) const {
  const auto found = origins_.find(key);
  return found != origins_.end() && found->second.announced > found->second.friendship;
}

void FakeRelations::Log(Shard shard, LoggedChange change) { (void)Add(shard, change); }

void FakeRelations::LogEdge(const Edge& edge, const EdgeState& before, const Origins& origins) {
  Row& row = Add(shards_.ShardOf(edge.src), {0, ChangeKind::kEdge, edge, now});
  row.before = before;
  row.origins = origins;
}

FakeRelations::Row& FakeRelations::Add(Shard shard, LoggedChange change) {
  change.id = next_row != 0 ? next_row : ReserveRow(shard);
  Row& row = log_.at(shard).rows[change.id];
  row = {.change = change, .commit = ++commits_};
  return row;
}

std::vector<LoggedChange> FakeRelations::Last(Shard shard, size_t most) const {
  std::vector<const Row*> rows;
  for (const auto& [id, row] : log_.at(shard).rows) {
    if (row.change.kind != ChangeKind::kMutes) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row* one, const Row* other) { return one->commit > other->commit; });
  rows.resize(std::min(rows.size(), most));
  std::vector<LoggedChange> changes;
  for (const Row* row : rows) changes.push_back(row->change);
  return changes;
}

void FakeRelations::LoseChanges(Shard shard, size_t count) {
  Table& table = log_.at(shard);
  for (const LoggedChange& change : Last(shard, count)) {
    const Row& row = table.rows.at(change.id);
    const EdgeKey key = change.edge.key();
    origins_[key] = row.origins;
    forward_[key] = row.before;
    if (row.before.ver == 0) forward_.erase(key);
    if (change.id == table.ids) --table.ids;
    table.rows.erase(change.id);
  }
}

std::vector<Edge> FakeRelations::LastApplied(Shard shard, size_t most) const {
  std::vector<Edge> edges;
  for (auto at = applied_.rbegin(); at != applied_.rend() && edges.size() < most; ++at) {
    if (shards_.ShardOf(at->edge.dst) == shard) edges.push_back(at->edge);
  }
  return edges;
}

void FakeRelations::LoseApplied(Shard shard, size_t count) {
  for (size_t i = applied_.size(); i-- > 0 && count > 0;) {
    const auto [edge, before] = applied_[i];
    if (shards_.ShardOf(edge.dst) != shard) continue;
    fans_[edge.dst] -= Transition(before, edge.state());
    reverse_[edge.key()] = before;
    if (before.ver == 0) reverse_.erase(edge.key());
    applied_.erase(applied_.begin() + static_cast<std::ptrdiff_t>(i));
    --count;
  }
}

LoggedRead FakeRelations::Do(const ReadLogged& request) const {
  const Table& table = log_.at(request.shard);
  const uint64_t place = table.scanned.value_or(0);
  LoggedRead reply{request.id, {}, place, 0, {}, place, now - request.age.count(), false};
  uint32_t rows = 0;
  for (auto row = table.rows.upper_bound(place); row != table.rows.end(); ++row) {
    if (row->second.change.written_at > now - request.age.count()) break;
    reply.last = row->first;
    if (row->second.done) reply.changes.push_back(row->second.change);
    if (++rows < request.limit) continue;
    reply.up_to = row->second.change.written_at;
    reply.more = true;
    break;
  }
  return reply;
}

LogScanMoved FakeRelations::Do(const MoveLogScan& request) {
  std::optional<uint64_t>& scanned = log_.at(request.shard).scanned;
  if (scanned.value_or(request.from) == request.from) scanned = request.to;
  return {request.id, {}};
}

FriendVersionsRead FakeRelations::Do(const ReadFriendVersions& request) const {
  FriendVersionsRead reply{request.id, {}, {}};
  for (const EdgeKey& edge : request.edges) {
    const auto found = origins_.find(edge);
    reply.versions.push_back(found == origins_.end() ? 0 : found->second.friendship);
  }
  return reply;
}

LoggedAgain FakeRelations::Do(const LogAgain& request) {
  LoggedChange change = request.change;
  change.written_at = now;
  Log(request.shard, change);
  return {request.id, {}};
}

bool FakeRelations::Unscanned(Shard shard) const {
  const Table& table = log_.at(shard);
  return !table.rows.empty() && table.rows.rbegin()->first > table.scanned.value_or(0);
}

size_t FakeRelations::PendingOf(Shard shard, const EdgeKey& edge) const {
  const auto& rows = log_.at(shard).rows;
  return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [&edge](const auto& each) {
    return !each.second.done && each.second.change.edge.key() == edge;
  }));
}

size_t FakeRelations::pending() const {
  size_t count = 0;
  for (const Table& table : log_) {
    count += static_cast<size_t>(std::count_if(table.rows.begin(), table.rows.end(),
                                               [](const auto& row) { return !row.second.done; }));
  }
  return count;
}

uint64_t FakeRelations::Followed(UserId src) const {
  return static_cast<uint64_t>(
      std::count_if(forward_.begin(), forward_.end(),
                    [&](const auto& each) { return each.first.src == src && each.second.live; }));
}

}  // namespace fanline::fakes
