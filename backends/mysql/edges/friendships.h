// Friend requests (table friend_request) and the way from an accepted one to its two edges.
//
// The row of a pair lies on one shard, its two edges lie on two. So accepting and removing also
// commit a row of log1, from which the mirror writes both edges. Each is an ordinary forward change
// that is mirrored in turn. If the mirror is killed between the edges, it finds the row pending
// and writes both again. These changes carry the pair's version: one that comes after a newer one
// of the same pair has no effect, even if it arrives for the first time.
//
// The edges are like those of a follow: an unfollow ends one of them. The friendship then stays as
// it is until it is removed and requested again. If a friendship's change and a user's own change
// meet on an edge, the later one wins, no matter when the mirror runs: the pair's version is
// announced to both edges before the pair's row is committed, and a user's own change settles what
// was announced (docs/decisions/0010-friendships-are-announced.md). So beginning and ending a
// friendship need both users' shards. Asking needs the pair's shard and that of the user who asks,
// all else only the pair's. Blocking; one thread at a time.
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

  // `who` requests, cancels, accepts, ..., a friendship with `whom`. Only steps that ask for a
  // friendship or begin it have limits: `who` uses up one of the changes of an hour (TakeChange),
  // and both users must have room for a new edge. The edges come later, so a user who begins
  // several friendships before the mirror has written the first may exceed the limit of followed
  // users by these.
  // - Never: the action is not allowed now. The message says why (Decide in
  //   fanline/model/friendship.h, out->over_limit, out->again_in).
  // - Later: one of the shards is away, or the friendship was changed too often meanwhile.
  //
  // out->changed is also false if an earlier call did it whose answer was lost. If the two became
  // friends or no longer are, a row of log1 on PairShard is pending, from which the mirror writes
  // both edges.
  Status Change(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                FriendshipStep* out);

  Status Read(UserId one, UserId other, Friendship* out);

  // The shard of the pair's row and of its rows of log1.
  Shard PairShard(UserId one, UserId other) const;

 private:
  // Reads the friendship from the primary, or Later. A step that changes nothing is decided by it
  // alone.
  Status ReadTruth(UserId one, UserId other, Friendship* out);
  // Whether the limits allow a step to this state. *taken: `who` has already used up a change.
  Status Admit(FriendState to, UserId who, UserId whom, bool* taken, FriendshipStep* out);
  // *version: of the pair's next change. It is raised above what either edge has settled.
  Status Announce(UserId one, UserId other, uint64_t* version);

  ShardConnections& connections_;
  const ShardMap& map_;
  const uint32_t most_followed_;
};

}  // namespace fanline::mysql
