// Finds and repairs counters that are wrong (fanline/ports/counter_store.h) and purges repair_log,
// with one thread per shard (shard_port.h). A statement may take a quarter of a minute, and a count
// of tens of millions of rows takes many statements.
#pragma once

#include "backends/mysql/sql/shard_port.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/counter_store.h"
#include "fanline/ports/repair_store.h"

namespace fanline::mysql {

struct CounterService {
  static constexpr const char* kName = "counters";
  static constexpr PoolLimits kLimits{};

  static Config Tuned(Config config);
  MarkedRead Do(Connection& connection, const ReadMarked& request);
  CounterRepaired Do(Connection& connection, const RepairCounter& request);
  CountersSwept Do(Connection& connection, const SweepCounters& request);
  RepairsPurged Do(Connection& connection, const PurgeRepairs& request);

  ShardMap map;
};
using MysqlCounterStore =
    ShardPort<CounterService, ReadMarked, RepairCounter, SweepCounters, PurgeRepairs>;

}  // namespace fanline::mysql
