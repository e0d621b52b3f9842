// Friend requests (table friend_request) and the way from an accepted one to its two edges. A
// change takes several steps on up to three shards (fanline/ports/friendship_run.h); here are those
// on the pair's row.
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
// announced to both edges (AnnounceFriendship in forward_edges.h) before the pair's row is
// committed, and a user's own change settles what was announced
// (docs/decisions/0010-friendships-are-announced.md). So beginning and ending a friendship need
// both users' shards. Asking needs the pair's shard and that of the user who asks, all else only
// the pair's.
#pragma once

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/relation_store.h"

namespace fanline::mysql {

// The shard of the pair's row and of its rows of log1.
Shard PairShard(const ShardMap& map, UserId one, UserId other);

// The pair's row; a plain read, which proves nothing (Connection::RequirePrimary). Both run on a
// connection to PairShard and throw MysqlError.
[[nodiscard]] Friendship ReadPairRow(Connection& connection, UserId one, UserId other);
// If the two became friends or no longer are, a row of log1 is pending afterwards, from which the
// mirror writes both edges. FriendshipWritten::changed is also false if an earlier call did it
// whose answer was lost.
[[nodiscard]] FriendshipWritten WritePairRow(Connection& connection, const WriteFriendship& change);

}  // namespace fanline::mysql
