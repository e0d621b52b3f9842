// Changes of forward edges, the truth of who follows whom: row, version, counter and log1 row in
// one transaction (schemas/sql/{change,follow}_edge.sql). A relay of log1 then writes the reverse
// row. Blocking; one thread at a time.
//
// Idempotent: a change that is so already is not written again. When a connection is lost during a
// commit, the change is asked for again, and the answer is then that it was so already.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/ports/forward_edges.h"

namespace fanline::mysql {

// Done, or why src cannot follow dst, ever.
Status CheckEdgeIds(UserId src, UserId dst);

// One change whose ids CheckEdgeIds accepts, on a connection to the shard of src. Throws
// MysqlError; over_limit and again_in are answers here.
[[nodiscard]] ForwardChanged ChangeForward(Connection& connection, const EdgeChange& change,
                                           uint32_t most_followed = kMostFollowed);
// A repair, relayed like any change: makes the forward row say what `edge` says, at edge.ver,
// unless the row has that version or a newer one by now. Not held to the limit of followed users.
// `edge` is, each time one version higher, for
//   a reverse row that is newer than its forward row, or has none: the reverse row;
//   the same, where orphans are to be removed: the reverse row with live = false;
//   equal versions with different states: the forward row, which is thereby written anew.
// On a connection to the shard of edge.src. Throws MysqlError.
[[nodiscard]] ForwardChanged AdoptForward(Connection& connection, const Edge& edge);

// Announces to an edge that version `version` of its pair's friendship may come. Whatever a user or
// an application says about the edge from now on is later and settles that version. Where there is
// no row, makes a tombstone of version 1, so that any real row is newer. Returns the highest
// version of the pair that was written or settled here before: a version not above it does nothing
// any more. On a connection to the shard of src; repeating it changes nothing. Throws MysqlError.
[[nodiscard]] uint64_t AnnounceFriendship(Connection& connection, const EdgeKey& edge,
                                          uint64_t version);

// Never when `changed` was refused by a limit, else done.
Status StatusOf(const ForwardChanged& changed, uint32_t most_followed = kMostFollowed);
// Never, in words: the user has changed too often.
Status TooOften(uint32_t most_followed);

// One more of the changes that `user` may make within an hour is used up, by what is no change of
// an edge. Not when an answer comes: after so long there is one. On a connection to the shard of
// `user`; not idempotent. Throws MysqlError.
[[nodiscard]] std::optional<std::chrono::seconds> TakeChange(Connection& connection, UserId user,
                                                             uint32_t most_followed);
// Whether one edge more of edge.src would be one too many; not when this one is there. On a
// connection to the shard of edge.src. Throws MysqlError.
[[nodiscard]] bool FollowsAsManyAsMayBe(Connection& connection, const EdgeKey& edge,
                                        uint32_t most_followed);

class ForwardEdges {
 public:
  // `connections` and `map` outlive this.
  ForwardEdges(ShardConnections& connections, const ShardMap& map,
               uint32_t most_followed = kMostFollowed)
      : connections_(connections), map_(map), most_followed_(most_followed) {}

  // Never: an invalid id, src following itself, or a limit (over_limit, again_in).
  Status Change(const EdgeChange& change, ForwardChanged* out);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
  const uint32_t most_followed_;
};

}  // namespace fanline::mysql
