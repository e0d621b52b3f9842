// Lists of relations: whom a user follows, who follows a user, and both; newest first, page by
// page. Also their numbers. On a connection to the user's shard; throws MysqlError.
//
// A page begins behind the last entry of the previous page, by value. Whatever is written
// meanwhile, a walk shows no entry twice and skips none that kept its place. An edge that is
// followed again moves to the front.
#pragma once

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/relation_store.h"

namespace fanline::mysql {

// A list of followers ends after this many; the counter goes on.
inline constexpr uint32_t kMostFollowersShown = 10'000;

// Friends are mutual edges, in the order in which the user followed them.
[[nodiscard]] ListPage ListRelations(Connection& connection, const ReadList& request,
                                     uint32_t most_followers_shown = kMostFollowersShown);

[[nodiscard]] RelationCounts RelationCountsOf(Connection& connection, UserId user);

}  // namespace fanline::mysql
