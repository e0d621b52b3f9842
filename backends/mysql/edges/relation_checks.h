// How one user stands to many, asked at once. Blocking; one thread at a time.
//
// "Whom does X follow" reads X's forward rows, the truth. "Who follows X" reads X's reverse rows,
// which lag a moment behind. With CheckItem::min_version the forward row is read when the reverse
// row is older.
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

  // For each item: `viewer` follows it (kFollowing), it follows `followed` (kFollower), or both
  // (kMutual). followed = viewer asks how the two stand to each other; another one asks "who of
  // these, whom I follow, follows X". One answer per item, in the order asked. Never: more than
  // kMostItems.
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
