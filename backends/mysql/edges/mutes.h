// Table mute: the authors whom a reader mutes, one row on the reader's shard. The functions throw
// MysqlError.
#pragma once

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/mutes.h"

namespace fanline::mysql {

// A plain read, which proves nothing (Connection::RequirePrimary).
[[nodiscard]] Mutes ReadMutesRow(Connection& connection, UserId reader);

// Without an id. `change` names valid authors, not the user.
[[nodiscard]] MutesChanged ChangeMutesRow(Connection& connection, const ChangeMutes& change);

}  // namespace fanline::mysql
