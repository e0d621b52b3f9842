// Friend requests (table friend_request) and the way from an accepted one to its two edges.
//
// The row of a pair lies on one shard, its edges on two. So what is accepted or removed is
// committed with a row of log1, and a relay writes both edges from that, each as an ordinary
// forward change which is relayed in its turn. Killed between the edges it finds the row pending
// and writes both again. The pair's version goes with them: a change that comes late, after a newer
// one of the same pair, does nothing, also where the older one had never arrived.
//
// The edges are those of a follow: each may be ended by an unfollow, which leaves the friendship
// as it is, until it is removed and asked for again. Of a friendship's change and a user's own
// change of an edge the later one stays, whenever the relay comes: the pair's version is announced
// to both edges before the pair's row is committed, and what a user says about an edge settles what
// was announced (docs/decisions/0010-friendships-are-announced.md). So becoming friends, and no
// longer being, needs both users' shards; all else needs the pair's. Blocking; one thread at a
// time.
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
  Friendships(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  // `who` requests, cancels, accepts, ..., with `whom`. Never: what may not be done now, with the
  // reason (Decide in fanline/model/friendship.h). Later: one of the shards is away, or the two and
  // their devices changed it so often meanwhile that this one never came to it. out->changed is
  // false also when it was done by a call whose answer was lost. Done when two became friends, or
  // no longer are: a row of log1 on PairShard is pending, from which a relay writes both edges.
  Status Change(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                FriendshipStep* out);

  Status Read(UserId one, UserId other, Friendship* out);

  // Where the pair's row lies, and its rows of log1.
  Shard PairShard(UserId one, UserId other) const;

 private:
  // *version: of the pair's next change; raised above what either edge has behind it.
  Status Announce(UserId one, UserId other, uint64_t* version);

  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
