// Table repair_log: a record of repairs for later questions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/base/time.h"
#include "fanline/model/edge.h"
#include "fanline/ports/repair_store.h"

namespace fanline::mysql {

// For a counter, net is "counter", cause "drift", edge.src the user, edge.dst 0, ver its epoch.
std::string RepairSql(const LogRepair& repair);

struct LoggedRepair {
  LogRepair repair;
  UnixMs at = 0;  // the server's clock
};

// Returns the last `most` repairs of one edge, newest first, for a person who asks. It searches the
// newest `look_at` rows of the shard, since there is no index on edges. Throws MysqlError.
[[nodiscard]] std::vector<LoggedRepair> LastRepairs(Connection& connection, const EdgeKey& edge,
                                                    uint32_t look_at, uint32_t most);

}  // namespace fanline::mysql
