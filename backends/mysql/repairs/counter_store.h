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
// The sweep over all counters of a shard, page by page. It marks drifted counters for a recount, so
// an interrupted repair is not lost. The shard stores the sweep's place: several sweepers continue
// each other's work, and a restarted one does not begin again.
//
// Sweeps at most a few hundred users, and `rows` rows of each table, except that the last user may
// own any number. Throws MysqlError; then the page is swept again.
[[nodiscard]] CountersSwept SweepPage(Connection& connection, const ShardMap& map,
                                      std::chrono::seconds every, uint32_t rows = 5'000);

using MysqlCounterStore =
    ShardPort<CounterService, ReadMarked, RepairCounter, SweepCounters, PurgeRepairs>;

}  // namespace fanline::mysql
