// Table `setting`: what an operator changes while an installation runs. On shard 0 (the table is on
// every shard, like all others, and used on the first only). Throw MysqlError.
#pragma once

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/mirror_mode.h"
#include "fanline/ports/reconciler_mode.h"

namespace fanline::mysql {

inline constexpr Shard kSettingsShard = 0;

// kAsync when it was never set.
[[nodiscard]] MirrorMode GetMirrorMode(Connection& connection);
void SetMirrorMode(Connection& connection, MirrorMode mode);

// kRun when it was never set; kPause for a value that nobody knows: whoever set it wanted
// something else than repairs.
[[nodiscard]] ReconcilerMode GetReconcilerMode(Connection& connection);
// From another mode to kRun: the operator has looked, so it also closes the breakers of removals.
void SetReconcilerMode(Connection& connection, ReconcilerMode mode);
// The number of their last closing (fanline/ports/removal_allowance.h): higher each time, and at
// least the microseconds of the server's clock then, so that a server that lost it (restored,
// failed over) does not fall behind what breakers kept. 0: never closed.
[[nodiscard]] uint64_t GetBreakerClosings(Connection& connection);

}  // namespace fanline::mysql
