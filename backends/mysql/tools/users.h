// The users that the shards know. Blocking; for tools, not for daemons.
#pragma once

#include <functional>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

// Passes on the shard's users whose counter says that they follow somebody, ascending. Reads page
// by page.
Status ScanReaders(ShardConnections& connections, Shard shard,
                   const std::function<void(UserId)>& each);

}  // namespace fanline::mysql
