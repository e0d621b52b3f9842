// The ranges that pushers have ever owned (table range_owner). Blocking; for tools.
#pragma once

#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

// Indexed by range. A pusher writes the row of a range before it claims the range for the first
// time. That first claim finds no pos: and drops the range's timelines
// (pusher/ranges/range_takeover.h). So a range without a row has no timeline that will be served
// once the range has an owner.
Status ReadOwnedRanges(ShardConnections& connections, const RangeLayout& layout,
                       const ShardMap& map, std::vector<bool>* owned);

}  // namespace fanline::mysql
