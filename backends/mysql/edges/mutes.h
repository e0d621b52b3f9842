// Table mute: the authors whom a reader mutes, one row on the reader's shard. The functions throw
// MysqlError.
#pragma once

#include <functional>

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/ports/mutes.h"

namespace fanline::mysql {

// A plain read, which proves nothing (Connection::RequirePrimary).
[[nodiscard]] Mutes ReadMutesRow(Connection& connection, UserId reader);

// Without an id. `change` names valid authors, not the user.
[[nodiscard]] MutesChanged ChangeMutesRow(Connection& connection, const ChangeMutes& change);

// Every reader of a shard who mutes anybody, with Mutes::mark, for an audit. Reads pages as
// sql/scan.h does.
Status ScanMutes(ShardConnections& connections, Shard shard,
                 const std::function<void(UserId reader, uint64_t mark)>& each,
                 uint32_t page = 10'000);

}  // namespace fanline::mysql
