// Table repair_log: what was repaired, for whoever asks afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "backends/mysql/connection.h"
#include "fanline/ids.h"

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

}  // namespace fanline::mysql
