// Shows a shard that is away on /readyz: "mysql_1", with the reason. A daemon is ready while any
// shard answers, because it serves the users of that shard.
#pragma once

#include <string_view>

#include "backends/mysql/sql/config.h"
#include "daemon/observe/health.h"

namespace fanline::wiring {

// For an adapter of MariaDB. `health` outlives the adapter. One resource of each `kind` is enough.
inline mysql::HealthSink ShardHealth(daemon::Health& health, std::string_view kind = "mysql") {
  return [&health, kind](Shard shard, const Status& status) {
    health.SetReach(mysql::ResourceOf(shard), kind,
                    status.done() ? daemon::Reach::kWhole : daemon::Reach::kAway, status.message);
  };
}

}  // namespace fanline::wiring
