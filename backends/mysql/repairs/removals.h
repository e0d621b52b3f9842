// Table removal_allowance: how much reconcilers may still remove
// (fanline/ports/removal_allowance.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/removal_allowance.h"

namespace fanline::mysql {

// Returns how many of the wanted removals are granted for the rows named `edges`. The server's
// clock counts. Throws MysqlError.
[[nodiscard]] uint32_t TakeFromAllowance(Connection& connection, const std::string& edges,
                                         const TakeRemovals& request);

// Returns the breakers of this shard's table that are open if `closings` is the last closing
// (GetBreakerClosings). Throws MysqlError.
struct OpenBreaker {
  std::string edges;  // their name in removal_allowance
  Shard shard = 0;    // of these rows
};
[[nodiscard]] std::vector<OpenBreaker> ReadOpenBreakers(Connection& connection, uint64_t closings);

}  // namespace fanline::mysql
