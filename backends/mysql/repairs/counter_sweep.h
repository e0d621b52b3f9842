// The sweep over all counters of a shard, page by page: what drifted is marked for a recount, so a
// repair that is interrupted is not lost. The place is kept on the shard: several who sweep it go
// on where the others are, and who is started anew begins no sweep anew. Blocking.
#pragma once

#include <chrono>
#include <cstdint>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

struct SweptPage {
  uint64_t users = 0;   // looked at
  uint64_t marked = 0;  // counters
  bool over = false;    // those were the last, or less than `every` ago a sweep began that is over
};

// At most a few hundred users, and `rows` rows of each table but those of one user, who may own as
// many as there are. Throws MysqlError; then the page is swept again.
[[nodiscard]] SweptPage SweepPage(Connection& connection, const ShardMap& map,
                                  std::chrono::seconds every, uint32_t rows = 5'000);

}  // namespace fanline::mysql
