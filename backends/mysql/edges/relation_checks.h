// The relation of one user to many, in one request. Blocking; one thread at a time.
//
// "Whom does X follow" reads X's forward rows, the truth. "Who follows X" reads X's reverse rows,
// which lag a moment behind. If a reverse row is older than CheckItem::min_version, the forward row
// is read too.
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
  // (kMutual). With followed = viewer this is the relation of the two; with another user it answers
  // "which of these, whom I follow, follow X". One answer per item, in the order of the items.
  // Never: more than kMostItems.
  Status Check(UserId viewer, UserId followed, std::span<const CheckItem> items, Sides sides,
               std::vector<CheckAnswer>* out);

  // The relation of `viewer` to every entry of a page, in its order.
  Status OfEntries(UserId viewer, const std::vector<ListEntry>& entries,
                   std::vector<Relation>* out);

  // As in RelationStore. Reads page after page until there are `limit`, but at most 20 pages. Each
  // page takes a statement or two on the shard of `followed`.
  Status FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                           std::vector<UserId>* out);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
};

}  // namespace fanline::mysql
