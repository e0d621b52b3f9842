// Reads a whole shard for an audit: every forward edge that brings posts, and whether also
// reposts, every visible post, in
// primary key order. Blocking. Each page is a statement of its own, so a long scan keeps no old row
// versions alive, and a failed page is repeated alone. Changes made during the scan may or may not
// be seen.
#pragma once

#include <functional>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"

namespace fanline::mysql {

inline constexpr uint32_t kScanPage = 50'000;  // rows per statement

Status ScanFollowing(ShardConnections& connections, Shard shard,
                     const std::function<void(UserId src, UserId dst, bool reposts)>& each,
                     uint32_t page = kScanPage);

Status ScanVisiblePosts(ShardConnections& connections, Shard shard,
                        const std::function<void(const Item& item, bool pushed)>& each,
                        uint32_t page = kScanPage);

}  // namespace fanline::mysql
