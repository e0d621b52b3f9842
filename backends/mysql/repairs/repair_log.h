// Table repair_log: what was repaired, for people who ask afterwards.
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
  std::string net;    // what found it: "pair", "scan", "counter", ... at most 16 bytes
  std::string cause;  // "missing", "stale", "orphan", "corrupt", "drift", ... at most 16 bytes
  UserId src{};       // of a counter: the user, and dst 0
  UserId dst{};
  std::string before, after;  // at most 64 bytes
  uint64_t ver = 0;           // of the edge as repaired; of a counter: its epoch
};

std::string RepairSql(const Repair& repair);

struct LoggedRepair {
  Repair repair;
  UnixMs at = 0;  // the server's clock
};

// The last `most` repairs of one edge, newest first, for a person who asks about it. Looks at the
// newest `look_at` rows of the shard: no index knows an edge. Throws MysqlError.
[[nodiscard]] std::vector<LoggedRepair> LastRepairs(Connection& connection, const EdgeKey& edge,
                                                    uint32_t look_at, uint32_t most);

// Deletes rows older than `keep`, oldest first, at most `most` of them; returns how many. Several
// callers may do so at once. Throws MysqlError.
uint64_t PurgeRepairLog(Connection& connection, std::chrono::seconds keep, uint32_t most);

}  // namespace fanline::mysql
