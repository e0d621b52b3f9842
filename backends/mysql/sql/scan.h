// Reads a whole shard, for an audit: every live forward edge, every visible pushed post, in primary
// key order. Blocking. Page by page, each page a statement of its own: a long scan holds no old
// row versions back, sees the changes made meanwhile or not, and starts over nowhere when a page
// has to be repeated.
#pragma once

#include <functional>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"

namespace fanline::mysql {

inline constexpr uint32_t kScanPage = 50'000;  // rows of one statement

Status ScanFollowing(ShardConnections& connections, Shard shard,
                     const std::function<void(UserId src, UserId dst)>& each,
                     uint32_t page = kScanPage);

Status ScanVisiblePosts(ShardConnections& connections, Shard shard,
                        const std::function<void(UserId author, Item item)>& each,
                        uint32_t page = kScanPage);

}  // namespace fanline::mysql
