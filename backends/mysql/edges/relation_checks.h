// How one user stands to many, asked at once. Blocking; one thread at a time.
//
// Whom I follow is answered by forward rows, the truth. Who follows somebody is answered by the
// reverse rows of that one's shard, which follow the forward rows a moment later; a question that
// carries the version of a change is answered at that version or a later one all the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/mysql/edges/relation_lists.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/relation_store.h"

namespace fanline::mysql {

class RelationChecks {
 public:
  static constexpr size_t kMostItems = 500;

  // `connections` and `map` outlive this.
  RelationChecks(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  // Of each item: does `viewer` follow it (kFollowing), does it follow `followed` (kFollower),
  // both (kMutual). With followed = viewer that is how they stand to each other; with another it
  // answers "who of these, whom I follow, follows X". In the order asked, the same user as often as
  // asked. Never: more than kMostItems.
  Status Check(UserId viewer, UserId followed, std::span<const CheckItem> items, Sides sides,
               std::vector<CheckAnswer>* out);

  // How `viewer` stands to every entry of a page, in its order.
  Status OfEntries(UserId viewer, const std::vector<ListEntry>& entries,
                   std::vector<Relation>* out);

  // As RelationStore's, page by page until there are `limit`: 20 pages at most, each checked with
  // one statement or two on the shard of `followed`.
  Status FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                           std::vector<UserId>* out);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
