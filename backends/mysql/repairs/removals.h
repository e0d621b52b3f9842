// Table removal_allowance: what reconcilers may still remove (fanline/ports/removal_allowance.h).
#pragma once

#include <cstdint>
#include <string>

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/removal_allowance.h"

namespace fanline::mysql {

// How many of what is wanted are given, of the rows named `edges`; the server's clock counts.
// Throws MysqlError.
[[nodiscard]] uint32_t TakeFromAllowance(Connection& connection, const std::string& edges,
                                         const TakeRemovals& request);

}  // namespace fanline::mysql
