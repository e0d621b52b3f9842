// Tables range_owner and range_start (fanline/ports/range_owners.h), on the shard of each range's
// first bucket.
//
// One thread per shard (shard_port.h). A request is one transaction under the lock of the range's
// row. A request that loses its connection is `later`, although rows may have changed. It is safe
// to repeat: epochs only grow, and a start is noted once.
//
// If the owners of a range crash again and again, only the newest starts are kept, many more than
// anything needs.
#pragma once

#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/shard_port.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/range_owners.h"

namespace fanline::mysql {

struct OwnerService {
  static constexpr const char* kName = "owners";
  static constexpr PoolLimits kLimits{.queue = 4096};  // a few per range; at most 1,024 ranges

  template <class R>
  RangeOwned Do(Connection& connection, const R& request) const;
  template <class R>
  Shard ShardOf(const R& request) const {
    return map.ShardOf(layout.First(request.range));
  }

  ShardMap map;
  RangeLayout layout;
};
using MysqlRangeOwners = ShardPort<OwnerService, AcquireRange, RaiseEpoch, SaveStart, SettleRange>;

// Which ranges pushers have ever owned, by range. Blocking; for tools.
//
// A pusher writes the row of a range before it claims the range for the first time. That first
// claim finds no pos: and drops the range's timelines (pusher/ranges/range_takeover.h). So a range
// without a row has no timeline that will be served once the range has an owner.
Status ReadOwnedRanges(ShardConnections& connections, const RangeLayout& layout,
                       const ShardMap& map, std::vector<bool>* owned);

}  // namespace fanline::mysql
