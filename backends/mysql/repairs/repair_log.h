// Table repair_log: a record of repairs for later questions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/base/time.h"
#include "fanline/model/edge.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

struct Repair {
  std::string net;    // the check that found it: "pair", "scan", "counter", ... at most 16 bytes
  std::string cause;  // "missing", "stale", "orphan", "corrupt", "drift", ... at most 16 bytes
  UserId src{};       // for a counter: the user, and dst is 0
  UserId dst{};
  std::string before, after;  // at most 64 bytes
  uint64_t ver = 0;           // of the edge as repaired; for a counter: its epoch
};

std::string RepairSql(const Repair& repair);

struct LoggedRepair {
  Repair repair;
  UnixMs at = 0;  // the server's clock
};

// Returns the last `most` repairs of one edge, newest first, for a person who asks. It searches the
// newest `look_at` rows of the shard, since there is no index on edges. Throws MysqlError.
[[nodiscard]] std::vector<LoggedRepair> LastRepairs(Connection& connection, const EdgeKey& edge,
                                                    uint32_t look_at, uint32_t most);

// Deletes at most `most` rows older than `keep`, oldest first, and returns their number. Several
// callers may do so at once. Throws MysqlError.
uint64_t PurgeRepairLog(Connection& connection, std::chrono::seconds keep, uint32_t most);

}  // namespace fanline::mysql
