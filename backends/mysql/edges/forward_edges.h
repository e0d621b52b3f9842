// Changes of forward edges, the truth of who follows whom: row, version, counter and log1 row in
// one transaction (schemas/sql/{change,follow_new}_edge.sql). The mirror then brings about the
// reverse row.
//
// Idempotent: a state that already holds is not written again. If a connection is lost during a
// commit, the change is requested again, and then the answer is that the state already held.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/edge.h"
#include "fanline/ports/forward_edges.h"

namespace fanline::mysql {

// Done, or the reason why src can never follow dst.
Status CheckEdgeIds(UserId src, UserId dst);

// Makes one change whose ids CheckEdgeIds accepts, on a connection to the shard of src. Throws
// MysqlError; over_limit and again_in are part of the result.
[[nodiscard]] ForwardChanged ChangeForward(Connection& connection, const EdgeChange& change,
                                           uint32_t most_followed = kMostFollowed);
// Makes the forward row equal to `edge`, at edge.ver, unless the row already has that version or a
// newer one. This is a repair: it is mirrored like any change, and the limit of followed users does
// not apply. The caller takes `edge` from one of these rows, with the version raised by one:
// - from the reverse row, if that is newer than the forward row or has none;
// - from the same with live = false, if orphans are to be removed;
// - from the forward row, if both have the same version but different states.
//
// Runs on a connection to the shard of edge.src. Throws MysqlError.
[[nodiscard]] ForwardChanged AdoptForward(Connection& connection, const Edge& edge);

// Announces to an edge that version `version` of its pair's friendship may come. Every later change
// of the edge by a user or an application settles that version. If the edge has no row, this makes
// a tombstone of version 1, so that any real row is newer. Returns the highest version of the pair
// that was written or settled here before; a version up to that one no longer has any effect. Runs
// on a connection to the shard of src. Idempotent. Throws MysqlError.
[[nodiscard]] uint64_t AnnounceFriendship(Connection& connection, const EdgeKey& edge,
                                          uint64_t version);

// Never if a limit refused `changed`, else done.
Status StatusOf(const ForwardChanged& changed, uint32_t most_followed = kMostFollowed);
// Never, with the message that the user has made too many changes.
Status TooOften(uint32_t most_followed);

// Uses up one of the changes that `user` may make in an hour, for something other than a change of
// an edge. If none is left, returns the time until one is. Runs on a connection to the shard of
// `user`. Not idempotent. Throws MysqlError.
[[nodiscard]] std::optional<std::chrono::seconds> TakeChange(Connection& connection, UserId user,
                                                             uint32_t most_followed);

}  // namespace fanline::mysql
