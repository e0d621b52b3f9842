// The sweep over all counters of a shard, page by page. It marks drifted counters for a recount, so
// an interrupted repair is not lost. The shard stores the sweep's place: several sweepers continue
// each other's work, and a restarted one does not begin again. Blocking.
#pragma once

#include <chrono>
#include <cstdint>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

struct SweptPage {
  uint64_t users = 0;   // compared
  uint64_t marked = 0;  // counters
  bool over = false;    // these were the last, or the sweep is over and the next is not due
};

// Sweeps at most a few hundred users, and `rows` rows of each table, except that the last user may
// own any number. A sweep is due `every` after the previous one began. Throws MysqlError; then the
// page is swept again.
[[nodiscard]] SweptPage SweepPage(Connection& connection, const ShardMap& map,
                                  std::chrono::seconds every, uint32_t rows = 5'000);

}  // namespace fanline::mysql
