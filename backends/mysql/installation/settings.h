// Table `setting`: what an operator changes in a running installation. Like all tables it exists on
// every shard, but only shard 0's is used. The functions throw MysqlError.
#pragma once

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/operator_modes.h"

namespace fanline::mysql {

inline constexpr Shard kSettingsShard = 0;

// kAsync if it was never set.
[[nodiscard]] MirrorMode GetMirrorMode(Connection& connection);
void SetMirrorMode(Connection& connection, MirrorMode mode);

// kRun if it was never set. kPause for an unknown value, because the operator who set it did not
// want plain repairs.
[[nodiscard]] ReconcilerMode GetReconcilerMode(Connection& connection);
// A change from another mode to kRun also closes the breakers of removals, since the operator has
// looked.
void SetReconcilerMode(Connection& connection, ReconcilerMode mode);
// The number of the last closing of breakers (fanline/ports/removal_allowance.h). Each closing has
// a higher number, at least the server's clock in microseconds. So a server that lost the number
// (restored, failed over) does not fall behind the numbers that breakers kept. 0: never closed.
[[nodiscard]] uint64_t GetBreakerClosings(Connection& connection);

}  // namespace fanline::mysql
