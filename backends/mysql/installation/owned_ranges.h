// Which ranges pushers have ever owned (table range_owner), and which of their owners' starts
// nobody has settled (table range_start). Blocking; for tools.
#pragma once

#include <map>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

// By range. A pusher writes the row of a range before it claims the range for the first time. That
// first claim finds no pos: and drops the range's timelines (pusher/range_takeover.h). So a range
// without a row holds no timeline that will be served once it has an owner.
Status ReadOwnedRanges(ShardConnections& connections, const RangeLayout& layout,
                       const ShardMap& map, std::vector<bool>* owned);

// Of the shard's ranges, those with starts that are not settled, and how many: one of an owner that
// has not lasted yet, more of owners that ended without a word. Throws MysqlError.
[[nodiscard]] std::map<Range, uint64_t> ReadUnsettledStarts(Connection& connection);

}  // namespace fanline::mysql
