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

}  // namespace fanline::mysql
