// The port RelationStore on the shards: forward rows, friend requests, lists and checks. One thread
// at a time. It has connections of its own, which are opened when first used.
#pragma once

#include <functional>

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/friendships.h"
#include "backends/mysql/edges/relation_checks.h"
#include "backends/mysql/edges/relation_lists.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/ports/relation_store.h"

namespace fanline::mysql {

// Called after every done change of a forward edge, on the thread that made it. It serves callers
// that do more about a change than wait for the mirror.
using ForwardSink = std::function<void(const ForwardChanged& changed)>;

class MysqlRelationStore final : public RelationStore {
 public:
  // `away`: see ShardConnections. It may be empty, and so may `changed`.
  MysqlRelationStore(const Config& config, const ShardMap& map, uint32_t most_followed,
                     ForwardSink changed, ShardConnections::Away away = {});

  Status ChangeFollowing(const EdgeKey& edge, bool live, uint64_t unix_us,
                         FollowingChanged* out) override;
  Status ReadPair(UserId user, UserId other, PairState* out) override;
  Status ChangeFriendship(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                          FriendshipStep* out) override;
  Status ReadFriendship(UserId one, UserId other, Friendship* out) override;
  Status ReadList(UserList list, UserId user, const std::optional<ListCursor>& after,
                  uint32_t limit, ListPage* out) override;
  Status Counts(UserId user, RelationCounts* out) override;
  Status Check(UserId viewer, std::span<const CheckItem> items, Sides sides,
               std::vector<CheckAnswer>* out) override;
  Status FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                           std::vector<UserId>* out) override;

 private:
  ShardConnections connections_;
  const ShardMap map_;
  const ForwardSink changed_;
  ForwardEdges forward_;
  Friendships friendships_;
  RelationLists lists_{connections_, map_};
  RelationChecks checks_{connections_, map_};
};

}  // namespace fanline::mysql
