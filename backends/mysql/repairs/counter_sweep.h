// The sweep over all counters of a shard, page by page. It marks drifted counters for a recount, so
// an interrupted repair is not lost. The shard keeps the place: several sweepers go on from each
// other's, and a restarted one does not begin anew. Blocking.
#pragma once

#include <chrono>
#include <cstdint>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

struct SweptPage {
  uint64_t users = 0;   // looked at
  uint64_t marked = 0;  // counters
  bool over = false;    // those were the last, or the sweep is over and the next not due
};

// At most a few hundred users, and `rows` rows of each table; the last user may own any number. A
// sweep is due `every` after the last began. Throws MysqlError; then the page is swept again.
[[nodiscard]] SweptPage SweepPage(Connection& connection, const ShardMap& map,
                                  std::chrono::seconds every, uint32_t rows = 5'000);

}  // namespace fanline::mysql
