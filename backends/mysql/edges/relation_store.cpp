#include "backends/mysql/edges/relation_store.h"

#include <string>

#include "backends/mysql/edges/relation_statements.h"

namespace fanline::mysql {
namespace {

// src, dst, ver, state, pos of the requested edge; version 0 if there is no row.
EdgeState ReadOne(Connection& connection, const std::string& sql) {
  EdgeState state;
  connection.Query(sql, [&](const Row& row) {
    state = {row.UInt64(3), row.Bool(4), row.Int64(5)};
  });
  return state;
}

}  // namespace

MysqlRelationStore::MysqlRelationStore(const Config& config, const ShardMap& map,
                                       uint32_t most_followed, ForwardSink changed,
                                       ShardConnections::Away away)
    : connections_(config, {}, std::move(away)),
      map_(map),
      changed_(std::move(changed)),
      forward_(connections_, map_, most_followed),
      friendships_(connections_, map_, most_followed) {}

Status MysqlRelationStore::ChangeFollowing(const EdgeKey& edge, bool live, uint64_t unix_us,
                                           FollowingChanged* out) {
  ForwardChanged forward;
  Status status = forward_.Change(
      {.src = edge.src, .dst = edge.dst, .live = live, .unix_us = unix_us}, &forward);
  *out = {forward.edge.state(), forward.changed, forward.over_limit, forward.again_in};
  if (status.done() && changed_) changed_(forward);
  return status;
}

// Both rows are the user's own, so they lie on one shard.
Status MysqlRelationStore::ReadPair(UserId user, UserId other, PairState* out) {
  const EdgeKey following{.src = user, .dst = other}, followed_by{.src = other, .dst = user};
  return connections_.Run(map_.ShardOf(user), [&](Connection& connection) {
    out->following = ReadOne(connection, ForwardRowsSql({&following, 1}));
    out->followed_by = ReadOne(connection, ReverseRowsSql({&followed_by, 1}));
  });
}

Status MysqlRelationStore::ChangeFriendship(FriendAction action, UserId who, UserId whom,
                                            uint64_t unix_us, FriendshipStep* out) {
  return friendships_.Change(action, who, whom, unix_us, out);
}

Status MysqlRelationStore::ReadFriendship(UserId one, UserId other, Friendship* out) {
  return friendships_.Read(one, other, out);
}

Status MysqlRelationStore::ReadList(UserList list, UserId user,
                                    const std::optional<ListCursor>& after, uint32_t limit,
                                    ListPage* out) {
  switch (list) {
    case UserList::kFollowing:
      return lists_.Following(user, after, limit, out);
    case UserList::kFollowers:
      return lists_.Followers(user, after, limit, out);
    case UserList::kFriends:
      return lists_.Friends(user, after, limit, out);
  }
  return Status::Never("no such list");
}

Status MysqlRelationStore::Counts(UserId user, RelationCounts* out) {
  return lists_.Counts(user, out);
}

Status MysqlRelationStore::Check(UserId viewer, std::span<const CheckItem> items, Sides sides,
                                 std::vector<CheckAnswer>* out) {
  return checks_.Check(viewer, viewer, items, sides, out);
}

Status MysqlRelationStore::FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                                             std::vector<UserId>* out) {
  return checks_.FollowedWhoFollow(viewer, followed, limit, out);
}

}  // namespace fanline::mysql
