// feedctl audit --watch: turns audit/watch.h beside the fleet, until it is interrupted, and shows
// what it finds on an admin port (/metrics, /healthz, /readyz) and in the log.
//
// How far hints are applied is read where it is written: the position of each range in Redis, and
// the end of its log in Kafka. While either is away, nothing new is judged wrong: second looks
// wait.
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

// Returns when it was interrupted. Throws Failure when the admin port is taken, or when the
// installation is another than at the start.
void WatchTimelines(const Settings& settings, const mysql::Installation& installation,
                    const redis::Options& redis, const WatchOptions& options, Interrupt& interrupt);

}  // namespace fanline::feedctl
