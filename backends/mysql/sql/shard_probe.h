// Asks shards whether they answer (fanline/ports/shard_probe.h): a connection per shard with a
// thread of its own, so that a shard that hangs does not delay the others.
#pragma once

#include "backends/mysql/sql/shard_port.h"
#include "fanline/ports/shard_probe.h"

namespace fanline::mysql {

struct ProbeService {
  static constexpr const char* kName = "probe";
  static constexpr PoolLimits kLimits{.queue = 16};

  ShardPinged Do(Connection& connection, const PingShard& request) {
    connection.Query("SELECT 1", [](const Row&) {});
    return {.shard = request.shard, .status = {}};
  }
};
using MysqlShardProbe = ShardPort<ProbeService, PingShard>;

}  // namespace fanline::mysql
