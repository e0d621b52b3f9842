#include "backends/mysql/edges/relation_checks.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "backends/mysql/edges/relation_statements.h"
#include "backends/mysql/sql/chunks.h"
#include "fanline/model/edge.h"

namespace fanline::mysql {
namespace {

// The users of the valid items, without duplicates.
std::vector<UserId> UsersOf(std::span<const CheckItem> items) {
  std::vector<UserId> users;
  for (const CheckItem& item : items) {
    if (IsValidId(item.user)) users.push_back(UserId{item.user});
  }
  SortUnique(users);
  return users;
}

using Users = std::unordered_set<UserId>;

Status ReadFollowed(ShardConnections& connections, Shard shard, UserId viewer,
                    const std::vector<UserId>& users, Users* out) {
  return connections.Run(shard, [&](Connection& connection) {
    out->clear();
    ForEachChunk(users, kListLimit, [&](std::span<const UserId> chunk) {
      connection.Query(FollowedAmongSql(viewer, chunk),
                       [&](const Row& row) { out->insert(UserId{row.UInt64(1)}); });
    });
  });
}

struct State {
  uint64_t ver = 0;
  bool live = false;
};
using States = std::unordered_map<UserId, State>;  // by src, of the edges to one dst

using RowsSql = std::string (*)(std::span<const EdgeKey>);

// Adds to *out, replacing what is there.
Status ReadStates(ShardConnections& connections, Shard shard, RowsSql sql, UserId followed,
                  const std::vector<UserId>& users, States* out) {
  std::vector<EdgeKey> edges;
  for (const UserId user : users) edges.push_back({.src = user, .dst = followed});
  return connections.Run(shard, [&](Connection& connection) {
    ForEachChunk(edges, kListLimit, [&](std::span<const EdgeKey> chunk) {
      connection.Query(sql(chunk), [&](const Row& row) {
        (*out)[UserId{row.UInt64(1)}] = {row.UInt64(3), row.Bool(4)};
      });
    });
  });
}

// Reads the forward rows of the users whose reverse row is older than the version asked for.
Status CatchUp(ShardConnections& connections, const ShardMap& map, UserId followed,
               std::span<const CheckItem> items, States* states) {
  std::vector<std::vector<UserId>> by_shard(map.shards());
  for (const CheckItem& item : items) {
    const UserId user{item.user};
    if (!IsValidId(item.user) || (*states)[user].ver >= item.min_version) continue;
    by_shard[map.ShardOf(user)].push_back(user);
  }
  for (Shard shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].empty()) continue;
    SortUnique(by_shard[shard]);
    Status status =
        ReadStates(connections, shard, ForwardRowsSql, followed, by_shard[shard], states);
    if (!status.done()) return status;
  }
  return Status::Done();
}

CheckAnswer AnswerOf(const CheckItem& item, Sides sides, const Users& followed, States& states) {
  if (!IsValidId(item.user)) return {Relation::kNone, "0 and 2^64-1 are no user ids"};
  const UserId user{item.user};
  const State state = sides == Sides::kFollowing ? State{} : states[user];
  if (sides != Sides::kFollowing && state.ver < item.min_version) {
    return {Relation::kNone, "there is no such version"};
  }
  const int relation = (followed.contains(user) ? static_cast<int>(Relation::kFollowing) : 0) +
                       (state.live ? static_cast<int>(Relation::kFollower) : 0);
  return {static_cast<Relation>(relation), {}};
}

}  // namespace

Status RelationChecks::Check(UserId viewer, UserId followed, std::span<const CheckItem> items,
                             Sides sides, std::vector<CheckAnswer>* out) {
  out->clear();
  if (items.size() > kMostItems) {
    return Status::Never("asked about " + std::to_string(items.size()) + " users at once; " +
                         std::to_string(kMostItems) + " at most");
  }
  const std::vector<UserId> users = UsersOf(items);
  Users i_follow;
  States follow_it;
  if (sides != Sides::kFollowers) {
    Status status = ReadFollowed(connections_, map_.ShardOf(viewer), viewer, users, &i_follow);
    if (!status.done()) return status;
  }
  if (sides != Sides::kFollowing) {
    Status status = ReadStates(connections_, map_.ShardOf(followed), ReverseRowsSql, followed,
                               users, &follow_it);
    if (status.done()) status = CatchUp(connections_, map_, followed, items, &follow_it);
    if (!status.done()) return status;
  }
  for (const CheckItem& item : items) out->push_back(AnswerOf(item, sides, i_follow, follow_it));
  return Status::Done();
}

Status RelationChecks::OfEntries(UserId viewer, const std::vector<ListEntry>& entries,
                                 std::vector<Relation>* out) {
  out->clear();
  std::vector<CheckItem> items;
  for (const ListEntry& entry : entries) items.push_back({.user = Raw(entry.user)});
  std::vector<CheckAnswer> answers;
  Status status = Check(viewer, viewer, items, Sides::kBoth, &answers);
  for (const CheckAnswer& answer : answers) out->push_back(answer.relation);
  return status;
}

Status RelationChecks::FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                                         std::vector<UserId>* out) {
  out->clear();
  RelationLists lists(connections_, map_);
  ListPage page;
  std::optional<ListCursor> after;
  size_t left = RelationStore::kMostLookedThrough;
  do {
    const size_t wanted = std::min<size_t>(left, RelationLists::kMostPerPage);
    Status status = lists.Following(viewer, after, static_cast<uint32_t>(wanted), &page);
    if (!status.done()) return status;
    std::vector<CheckItem> items;
    for (const ListEntry& entry : page.entries) items.push_back({.user = Raw(entry.user)});
    std::vector<CheckAnswer> answers;
    status = Check(viewer, followed, items, Sides::kFollowers, &answers);
    if (!status.done()) return status;
    for (size_t i = 0; i < answers.size() && out->size() < limit; ++i) {
      if (answers[i].relation == Relation::kFollower) out->push_back(page.entries[i].user);
    }
    left -= page.entries.size();
    after = page.next;
  } while (after && left > 0 && out->size() < limit);
  return Status::Done();
}

}  // namespace fanline::mysql
