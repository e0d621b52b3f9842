// feedctl audit --watch: runs audit/watch.h beside the fleet until it is interrupted, and shows its
// findings on an admin port (/metrics, /healthz, /readyz) and in the log.
// The progress of hints is each range's position in Redis and the end of its log in Kafka. While
// either is away, second looks wait, so nothing new is judged wrong.
#pragma once

#include "audit/watch.h"
#include "backends/mysql/installation/installation.h"
#include "backends/redis/client/options.h"
#include "daemon/observe/admin.h"
#include "feedctl/support/interrupt.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

struct WatchOptions {
  audit::WatchLimits limits;
  daemon::AdminOptions admin{.listen = {"127.0.0.1", 9406}};
};

// --watch-every, --watch-readers, --watch-again-after, --admin-listen
void AddOptions(daemon::OptionTable& table, WatchOptions& options);

// Returns when interrupted. Throws Failure when the admin port is taken or the installation has
// changed since the start.
void WatchTimelines(const Settings& settings, const mysql::Installation& installation,
                    const redis::Options& redis, const WatchOptions& options, Interrupt& interrupt);

}  // namespace fanline::feedctl
