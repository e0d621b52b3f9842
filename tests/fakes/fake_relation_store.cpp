#include "tests/fakes/fake_relation_store.h"

#include <algorithm>

namespace fanline::fakes {

EdgeState FakeRelationStore::Of(UserId src, UserId dst) const {
  const auto found = edges_.find({src, dst});
  return found == edges_.end() ? EdgeState{} : found->second;
}

Status FakeRelationStore::ChangeFollowing(const EdgeKey& edge, bool live, uint64_t unix_us,
                                          FollowingChanged* out) {
  *out = {};
  if (!fail.done()) return fail;
  const EdgeState now = Of(edge.src, edge.dst);
  out->edge = now;
  if (now.live == live) return Status::Done();
  if (live && Full(edge)) {
    *out = {.edge = {}, .changed = false, .over_limit = true};
    return Status::Never("follows " + std::to_string(most_followed) + " already");
  }
  if (const auto again_in = TakeChange(edge.src)) {
    *out = {.edge = {}, .changed = false, .over_limit = false, .again_in = again_in};
    return Status::Never("has changed too often");
  }
  const UnixMs pos = live ? static_cast<UnixMs>(unix_us / 1000) : now.pos;
  out->edge = {std::max(now.ver + 1, unix_us), live, pos};
  out->changed = true;
  edges_[edge] = out->edge;
  return Status::Done();
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

Status FakeRelationStore::ReadPair(UserId user, UserId other, PairState* out) {
  *out = {Of(user, other), Of(other, user)};
  return fail;
}

Status FakeRelationStore::ChangeFriendship(FriendAction action, UserId who, UserId whom,
                                           uint64_t unix_us, FriendshipStep* out) {
  *out = {};
  if (!fail.done()) return fail;
  Friendship& row = friendships_[std::minmax(who, whom)];
  out->now = row;
  const FriendStep step = Decide(row, action, who);
  if (step.refusal != nullptr) return Status::Never(step.refusal);
  if (!step.changes) return Status::Done();
  if (step.state == FriendState::kFriends) {
    for (const EdgeKey& edge : {EdgeKey{who, whom}, EdgeKey{whom, who}}) {
      if (!Full(edge)) continue;
      out->over_limit = edge.src;
      return Status::Never("follows as many already");
    }
  }
  if (step.state == FriendState::kAsked || step.state == FriendState::kFriends) {
    out->again_in = TakeChange(who);
    if (out->again_in) return Status::Never("has changed too often");
  }
  row = {step.state, step.asked_by, std::max(row.ver + 1, unix_us)};
  *out = {row, true};
  return Status::Done();
}

Status FakeRelationStore::ReadFriendship(UserId one, UserId other, Friendship* out) {
  const auto found = friendships_.find(std::minmax(one, other));
  *out = found == friendships_.end() ? Friendship{} : found->second;
  return fail;
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
    all.push_back({list == UserList::kFollowers ? key.src : key.dst, state.pos});
  }
  std::sort(all.begin(), all.end(), [](const ListEntry& a, const ListEntry& b) {
    return std::pair(a.pos, a.user) > std::pair(b.pos, b.user);
  });
  return all;
}

Status FakeRelationStore::ReadList(UserList list, UserId user,
                                   const std::optional<ListCursor>& after, uint32_t limit,
                                   ListPage* out) {
  *out = {};
  if (!fail.done()) return fail;
  for (const ListEntry& entry : All(list, user)) {
    if (after && std::pair(entry.pos, entry.user) >= std::pair(after->pos, after->user)) continue;
    if (out->entries.size() == limit) {
      const ListEntry& last = out->entries.back();
      out->next = {last.pos, last.user, (after ? after->shown : 0) + limit};
      break;
    }
    out->entries.push_back(entry);
  }
  return Status::Done();
}

Status FakeRelationStore::Counts(UserId user, RelationCounts* out) {
  *out = {static_cast<int64_t>(All(UserList::kFollowing, user).size()),
          static_cast<int64_t>(All(UserList::kFollowers, user).size())};
  return fail;
}

Status FakeRelationStore::Check(UserId viewer, std::span<const CheckItem> items, Sides sides,
                                std::vector<CheckAnswer>* out) {
  out->clear();
  if (!fail.done()) return fail;
  for (const CheckItem& item : items) {
    const PairState pair{Of(viewer, UserId{item.user}), Of(UserId{item.user}, viewer)};
    const auto relation =
        static_cast<Relation>(static_cast<int>(pair.relation()) & static_cast<int>(sides));
    const bool reached = sides == Sides::kFollowing || pair.followed_by.ver >= item.min_version;
    out->push_back(reached ? CheckAnswer{relation, {}}
                           : CheckAnswer{Relation::kNone, "there is no such version"});
  }
  return Status::Done();
}

Status FakeRelationStore::FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                                            std::vector<UserId>* out) {
  out->clear();
  std::vector<ListEntry> entries = All(UserList::kFollowing, viewer);
  entries.resize(std::min(entries.size(), kMostLookedThrough));
  for (const ListEntry& entry : entries) {
    if (out->size() < limit && Of(entry.user, followed).live) out->push_back(entry.user);
  }
  return fail;
}

}  // namespace fanline::fakes
