// Table `setting`: what an operator changes while an installation runs. The table is on every
// shard, like all others; only shard 0's is used. The functions throw MysqlError.
#pragma once

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/mirror_mode.h"
#include "fanline/ports/reconciler_mode.h"

namespace fanline::mysql {

inline constexpr Shard kSettingsShard = 0;

// kAsync when it was never set.
[[nodiscard]] MirrorMode GetMirrorMode(Connection& connection);
void SetMirrorMode(Connection& connection, MirrorMode mode);

// kRun when it was never set. kPause for an unknown value: the one who set it did not want plain
// repairs.
[[nodiscard]] ReconcilerMode GetReconcilerMode(Connection& connection);
// Changing another mode to kRun also closes the breakers of removals: the operator has looked.
void SetReconcilerMode(Connection& connection, ReconcilerMode mode);
// The number of the breakers' last closing (fanline/ports/removal_allowance.h). It is higher each
// time and at least the server's clock then in microseconds, so that a server that lost the number
// (restored, failed over) does not fall behind what breakers kept. 0: never closed.
[[nodiscard]] uint64_t GetBreakerClosings(Connection& connection);

}  // namespace fanline::mysql
