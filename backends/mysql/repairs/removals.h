// Table removal_allowance: what reconcilers may still remove (fanline/ports/removal_allowance.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/removal_allowance.h"

namespace fanline::mysql {

// Returns how many of the wanted removals are granted, of the rows named `edges`, by the server's
// clock. Throws MysqlError.
[[nodiscard]] uint32_t TakeFromAllowance(Connection& connection, const std::string& edges,
                                         const TakeRemovals& request);

// The breakers kept on this shard that are open for who knows of `closings` (GetBreakerClosings).
// Throws MysqlError.
struct OpenBreaker {
  std::string edges;  // as removal_allowance names them
  Shard shard = 0;    // of these rows
};
[[nodiscard]] std::vector<OpenBreaker> ReadOpenBreakers(Connection& connection, uint64_t closings);

}  // namespace fanline::mysql
