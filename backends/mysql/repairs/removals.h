// Table removal_allowance: how much reconcilers may still remove
// (fanline/ports/removal_allowance.h).
#pragma once

#include <cstdint>
#include <string>

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/removal_allowance.h"

namespace fanline::mysql {

// Returns how many of the wanted removals are granted for the rows named `edges`. The server's
// clock counts. Throws MysqlError.
[[nodiscard]] uint32_t TakeFromAllowance(Connection& connection, const std::string& edges,
                                         const TakeRemovals& request);

}  // namespace fanline::mysql
