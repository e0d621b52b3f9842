#include "tests/fakes/fake_relation_store.h"

#include <algorithm>

namespace fanline::fakes {

EdgeState FakeRelationStore::Of(UserId src, UserId dst) const {
  const auto found = edges_.find({src, dst});
  return found == edges_.end() ? EdgeState{} : found->second;
}

EdgeChanged FakeRelationStore::Do(const ChangeEdge& request) {
  const EdgeKey edge{request.change.src, request.change.dst};
  const EdgeState now = Of(edge.src, edge.dst);
  const bool live = request.change.chooses() ? now.live : request.change.live;
  const Delivery delivery = live ? request.change.delivery.value_or(now.delivery) : Delivery::kAll;
  EdgeChanged reply;
  reply.forward.edge = EdgeOf(edge, now);
  if (now.live == live && now.delivery == delivery) return reply;
  if (live && Full(edge)) {
    reply.forward = {.edge = {}, .over_limit = true};
    reply.status = Status::Never("follows " + std::to_string(most_followed) + " already");
    return reply;
  }
  if (const auto again_in = TakeChange(edge.src)) {
    reply.forward = {.edge = {}, .again_in = again_in};
    reply.status = Status::Never("has changed too often");
    return reply;
  }
  const uint64_t unix_us = request.change.unix_us;
  const UnixMs pos = live && !now.live ? static_cast<UnixMs>(unix_us / 1000) : now.pos;
  edges_[edge] = {std::max(now.ver + 1, unix_us), live, pos, delivery};
  reply.forward = {.edge = EdgeOf(edge, edges_[edge]), .changed = true};
  return reply;
}

bool FakeRelationStore::Full(const EdgeKey& edge) const {
  return !Of(edge.src, edge.dst).live &&
         All(UserList::kFollowing, edge.src).size() >= most_followed;
}

std::optional<std::chrono::seconds> FakeRelationStore::TakeChange(UserId user) {
  if (taken_[user] >= changes) return std::chrono::seconds(60);
  ++taken_[user];
  return std::nullopt;
}

PairRead FakeRelationStore::Do(const ReadPair& request) const {
  return {.status = {}, .pair = {Of(request.user, request.other), Of(request.other, request.user)}};
}

Friendship FakeRelationStore::PairOf(UserId one, UserId other) const {
  const auto found = friendships_.find(std::minmax(one, other));
  return found == friendships_.end() ? Friendship{} : found->second;
}

FriendshipRead FakeRelationStore::Do(const ReadFriendship& request) const {
  return {.status = {}, .now = PairOf(request.one, request.other)};
}

RoomAsked FakeRelationStore::Do(const AskRoom& request) const {
  if (!Full(request.edge)) return {};
  return {.status = Status::Never("follows as many already"), .full = request.edge.src};
}

ChangeUsedUp FakeRelationStore::Do(const UseUpChange& request) {
  const auto again_in = TakeChange(request.user);
  if (!again_in) return {};
  return {.status = Status::Never("has changed too often"), .again_in = again_in};
}

FriendshipWritten FakeRelationStore::Do(const WriteFriendship& request) {
  Friendship& row = friendships_[std::minmax(request.who, request.whom)];
  const FriendStep step = Decide(row, request.action, request.who);
  if (step.changes) row = {step.state, step.asked_by, request.version};
  return {.status = {}, .now = row, .changed = step.changes};
}

bool FakeRelationStore::Lists(UserList list, const EdgeKey& key, UserId user) const {
  switch (list) {
    case UserList::kFollowing:
      return key.src == user;
    case UserList::kFollowers:
      return key.dst == user;
    case UserList::kFriends:
      return key.src == user && Of(key.dst, key.src).live;
  }
  return false;
}

std::vector<ListEntry> FakeRelationStore::All(UserList list, UserId user) const {
  std::vector<ListEntry> all;
  for (const auto& [key, state] : edges_) {
    if (!state.live || !Lists(list, key, user)) continue;
    const bool chose = list != UserList::kFollowers;
    all.push_back({chose ? key.dst : key.src, state.pos,
                   chose ? std::optional(state.delivery) : std::nullopt});
  }
  std::sort(all.begin(), all.end(), [](const ListEntry& a, const ListEntry& b) {
    return std::pair(a.pos, a.user) > std::pair(b.pos, b.user);
  });
  return all;
}

ListRead FakeRelationStore::Do(const ReadList& request) const {
  ListRead reply;
  const auto& after = request.after;
  std::vector<ListEntry>& entries = reply.page.entries;
  for (const ListEntry& entry : All(request.list, request.user)) {
    if (after && std::pair(entry.pos, entry.user) >= std::pair(after->pos, after->user)) continue;
    if (entries.size() == request.limit) {
      const ListEntry& last = entries.back();
      reply.page.next = {last.pos, last.user, (after ? after->shown : 0) + request.limit};
      break;
    }
    entries.push_back(entry);
  }
  return reply;
}

RelationsCounted FakeRelationStore::Do(const CountRelations& request) const {
  return {.status = {},
          .counts = {static_cast<int64_t>(All(UserList::kFollowing, request.user).size()),
                     static_cast<int64_t>(All(UserList::kFollowers, request.user).size())}};
}

UsersChecked FakeRelationStore::Do(const CheckUsers& request) const {
  UsersChecked reply;
  for (const UserId other : request.others) {
    Standing& standing = reply.standings.emplace_back();
    if (request.sides != Sides::kFollowers) standing.followed = Of(request.user, other).live;
    if (request.sides != Sides::kFollowing) standing.follower = Of(other, request.user);
  }
  return reply;
}

ForwardRead FakeRelationStore::Do(const ReadForward& request) const {
  ForwardRead reply;
  for (const EdgeKey& edge : request.edges) reply.states.push_back(Of(edge.src, edge.dst));
  return reply;
}

}  // namespace fanline::fakes
