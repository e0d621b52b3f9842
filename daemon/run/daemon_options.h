// The options every daemon has, so that they are the same in each.
#pragma once

#include "daemon/observe/admin.h"
#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "daemon/options/options.h"
#include "daemon/run/run.h"

namespace fanline::daemon {

struct DaemonOptions {
  LogOptions log;
  AdminOptions admin;
  HealthOptions health;
  RunOptions run;
};

// --log-level, --admin-listen, --stall-limit, --drain-limit
inline void AddOptions(OptionTable& table, DaemonOptions& options) {
  AddOptions(table, options.log);
  AddOptions(table, options.admin);
  AddOptions(table, options.health);
  AddOptions(table, options.run);
}

}  // namespace fanline::daemon
