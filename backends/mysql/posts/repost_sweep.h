// Table `repost` as a walk reads it, and the states of what reposts show: SweepReposts of
// fanline/ports/reposts.h, and ReadOriginals. One thread per shard serves both (shard_port.h).
#pragma once

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/shard_port.h"
#include "fanline/ports/reader_ports.h"
#include "fanline/ports/reposts.h"

namespace fanline::mysql {

struct RepostSweepService {
  static constexpr const char* kName = "sweep of reposts";
  static constexpr PoolLimits kLimits{};

  RepostsSwept Do(Connection& connection, const SweepReposts& request) const;
  OriginalsRead Do(Connection& connection, const ReadOriginals& request) const;
};

using MysqlRepostSweep = ShardPort<RepostSweepService, SweepReposts, ReadOriginals>;

}  // namespace fanline::mysql
