// How a shard that is away shows on /readyz: "mysql_1", "not reachable".
#pragma once

#include "backends/mysql/sql/config.h"
#include "daemon/observe/health.h"

namespace fanline::wiring {

// For an adapter of MariaDB. `health` outlives the adapter.
inline mysql::HealthSink ShardHealth(daemon::Health& health) {
  return [&health](Shard shard, bool reachable) {
    health.SetReady(mysql::ResourceOf(shard), reachable, reachable ? "" : "not reachable");
  };
}

}  // namespace fanline::wiring
