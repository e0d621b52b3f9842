// The sweep over all counters of a shard, page by page. It marks drifted counters for a recount, so
// an interrupted repair is not lost. The shard stores the sweep's place: several sweepers continue
// each other's work, and a restarted one does not begin again. Blocking.
#pragma once

#include <chrono>
#include <cstdint>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/counter_store.h"

namespace fanline::mysql {

// Sweeps at most a few hundred users, and `rows` rows of each table, except that the last user may
// own any number. A sweep is due `every` after the previous one began. Throws MysqlError; then the
// page is swept again.
[[nodiscard]] CountersSwept SweepPage(Connection& connection, const ShardMap& map,
                                      std::chrono::seconds every, uint32_t rows = 5'000);

}  // namespace fanline::mysql
