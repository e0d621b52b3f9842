// How a shard that is away shows on /readyz: "mysql_1", "not reachable". A daemon is ready while
// any shard answers: the users of the others are served.
#pragma once

#include "backends/mysql/sql/config.h"
#include "daemon/observe/health.h"

namespace fanline::wiring {

// For an adapter of MariaDB. `health` outlives the adapter.
inline mysql::HealthSink ShardHealth(daemon::Health& health) {
  return [&health](Shard shard, bool reachable) {
    health.SetReach(mysql::ResourceOf(shard), "mysql",
                    reachable ? daemon::Reach::kWhole : daemon::Reach::kAway, "not reachable");
  };
}

}  // namespace fanline::wiring
