// Serves relations to programs that serve users, and the mode by which the API writes reverse rows:
// the requests of fanline/ports/relation_store.h and ChangeEdge. No batches: each worker serves one
// request, so the requests of a shard take as many connections as it has workers.
#pragma once

#include <string>

#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/installation/settings.h"
#include "backends/mysql/sql/shard_port.h"
#include "fanline/ports/relation_store.h"

namespace fanline::mysql {

// A list of followers ends after this many; the counter goes on.
inline constexpr uint32_t kMostFollowersShown = 10'000;

struct RelationService {
  static constexpr const char* kName = "relations";
  static constexpr PoolLimits kLimits{.threads_per_shard = 4};
  static constexpr bool kReopens = true;  // users wait, and no caller tries again by itself

  EdgeChanged Do(Connection& connection, const ChangeEdge& request) const;
  PairRead Do(Connection& connection, const ReadPair& request) const;
  ListRead Do(Connection& connection, const ReadList& request) const;
  RelationsCounted Do(Connection& connection, const CountRelations& request) const;
  UsersChecked Do(Connection& connection, const CheckUsers& request) const;
  ForwardRead Do(Connection& connection, const ReadForward& request) const;
  FriendshipRead Do(Connection& connection, const ReadFriendship& request) const;
  RoomAsked Do(Connection& connection, const AskRoom& request) const;
  ChangeUsedUp Do(Connection& connection, const UseUpChange& request) const;
  PairAnnounced Do(Connection& connection, const AnnouncePair& request) const;
  FriendshipWritten Do(Connection& connection, const WriteFriendship& request) const;
  MutesChanged Do(Connection& connection, const ChangeMutes& request) const;
  MirrorModeRead Do(Connection& connection, const ReadMirrorMode& request) const;

  template <class R>
  Shard ShardOf(const R& request) const;

  ShardMap map;
  uint32_t most_followed = kMostFollowed;
  uint32_t most_followers_shown = kMostFollowersShown;
};
using MysqlRelations = ShardPort<RelationService, ChangeEdge, ReadPair, ReadList, CountRelations,
                                 CheckUsers, ReadForward, ReadFriendship, AskRoom, UseUpChange,
                                 AnnouncePair, WriteFriendship, ChangeMutes, ReadMirrorMode>;

// The shard of the pair's row and of its rows of log1.
Shard PairShard(const ShardMap& map, UserId one, UserId other);
// The pair's row; a plain read, which proves nothing (Connection::RequirePrimary). Runs on a
// connection to PairShard. Throws MysqlError, as do those below.
[[nodiscard]] Friendship ReadPairRow(Connection& connection, UserId one, UserId other);

// The user and pos of `limit` entries, newest first, and the delivery where the user is the
// follower. Friends are mutual edges, in the order in which the user followed them.
std::string ListPageSql(const ReadList& request, uint32_t limit);
// On a connection to the user's shard.
[[nodiscard]] RelationCounts RelationCountsOf(Connection& connection, UserId user);
// How many of the followed users are muted. On a connection to the user's shard.
[[nodiscard]] uint64_t MutedOf(Connection& connection, UserId user);

template <class R>
Shard RelationService::ShardOf(const R& request) const {
  if constexpr (requires { request.shard; }) {
    return request.shard;
  } else if constexpr (requires { request.change; }) {
    return map.ShardOf(request.change.src);
  } else if constexpr (requires { request.edge; }) {
    return map.ShardOf(request.edge.src);
  } else if constexpr (requires { request.whom; }) {
    return PairShard(map, request.who, request.whom);
  } else if constexpr (requires { request.one; }) {
    return PairShard(map, request.one, request.other);
  } else if constexpr (requires { request.user; }) {
    return map.ShardOf(request.user);
  } else {
    return kSettingsShard;
  }
}

}  // namespace fanline::mysql
