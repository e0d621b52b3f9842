// Lists of relations: whom a user follows, who follows a user, and both; newest first, page by
// page. Also their numbers. Blocking; one thread at a time.
//
// A page begins behind the last entry of the previous page, by value. Whatever is written
// meanwhile, a walk shows no entry twice and skips none that kept its place. An edge that is
// followed again moves to the front.
#pragma once

#include <optional>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/relation_store.h"

namespace fanline::mysql {

class RelationLists {
 public:
  static constexpr uint32_t kMostPerPage = 500;
  // A list of followers ends after this many; the counter goes on.
  static constexpr uint32_t kMostFollowersShown = 10'000;

  // `connections` and `map` outlive this.
  RelationLists(ShardConnections& connections, const ShardMap& map,
                uint32_t most_followers_shown = kMostFollowersShown)
      : connections_(connections), map_(map), most_followers_shown_(most_followers_shown) {}

  // `limit`: at most this many entries, 1 .. kMostPerPage; values outside are clamped.
  Status Following(UserId user, const std::optional<ListCursor>& after, uint32_t limit,
                   ListPage* out);
  Status Followers(UserId user, const std::optional<ListCursor>& after, uint32_t limit,
                   ListPage* out);
  // Mutual edges, in the order in which `user` followed them.
  Status Friends(UserId user, const std::optional<ListCursor>& after, uint32_t limit,
                 ListPage* out);

  Status Counts(UserId user, RelationCounts* out);

 private:
  using PageSql = std::string (*)(UserId, const std::optional<ListCursor>&, uint32_t);
  Status ReadPage(PageSql sql, UserId user, const std::optional<ListCursor>& after, uint32_t limit,
                  ListPage* out);
  // How many followers come before a page. A cursor says it too, but it comes from a client.
  Status FollowersBefore(UserId user, const std::optional<ListCursor>& after, uint32_t* out);

  ShardConnections& connections_;
  const ShardMap& map_;
  const uint32_t most_followers_shown_;
};

}  // namespace fanline::mysql
