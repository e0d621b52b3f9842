// Friend requests (table friend_request) and the way from an accepted one to its two edges.
//
// The row of a pair lies on one shard, its edges on two. So accepting and removing also commit a
// row of log1, from which a relay writes both edges, each as an ordinary forward change that is
// relayed in its turn. A relay killed between the edges finds the row pending and writes both
// again. The changes carry the pair's version: one that comes after a newer one of the same pair
// does nothing, even if it arrives for the first time.
//
// The edges are those of a follow: an unfollow ends one of them and leaves the friendship as it is,
// until it is removed and asked for again. Of a friendship's change and a user's own change of an
// edge the later one stays, whenever the relay comes: the pair's version is announced to both edges
// before the pair's row is committed, and a user's own change settles what was announced
// (docs/decisions/0010-friendships-are-announced.md). So becoming friends and ending it need both
// users' shards; asking needs the pair's and that of the one who asks, all else the pair's.
// Blocking; one thread at a time.
#pragma once

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/friendship.h"
#include "fanline/ports/relation_store.h"

namespace fanline::mysql {

class Friendships {
 public:
  // `connections` and `map` outlive this.
  Friendships(ShardConnections& connections, const ShardMap& map,
              uint32_t most_followed = kMostFollowed)
      : connections_(connections), map_(map), most_followed_(most_followed) {}

  // `who` requests, cancels, accepts, ..., with `whom`. Never: the action is not allowed now; the
  // message says why (Decide in fanline/model/friendship.h, out->over_limit, out->again_in). Only
  // steps that ask for a friendship or begin it are held to limits: `who` takes one of the changes
  // of an hour (TakeChange), and both must have room for the edge that would be new. The edges come
  // later, so whoever begins several friendships before the mirror has written the first may pass
  // the limit of followed users by these. Later: one of the shards is away, or the two and their
  // devices changed the friendship too often meanwhile. out->changed is false also when an earlier
  // call, whose answer was lost, did it. When two became friends or no longer are, a row of log1 on
  // PairShard is pending, from which a relay writes both edges.
  Status Change(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                FriendshipStep* out);

  Status Read(UserId one, UserId other, Friendship* out);

  // Where the pair's row lies, and its rows of log1.
  Shard PairShard(UserId one, UserId other) const;

 private:
  // What a step that changes nothing is decided by: from the primary, or Later.
  Status ReadTruth(UserId one, UserId other, Friendship* out);
  // Whether the limits allow a step to this state. *taken: a change of `who` is used up already.
  Status Admit(FriendState to, UserId who, UserId whom, bool* taken, FriendshipStep* out);
  // *version: of the pair's next change; raised above what either edge has settled.
  Status Announce(UserId one, UserId other, uint64_t* version);

  ShardConnections& connections_;
  const ShardMap& map_;
  const uint32_t most_followed_;
};

}  // namespace fanline::mysql
