// The parts that every daemon has. A main.cpp makes them before its own: from then on the process
// heeds signals, answers scrapes and probes, and can log.
#pragma once

#include <prometheus/registry.h>

#include <string>

#include "daemon/observe/admin.h"
#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "daemon/run/daemon_options.h"
#include "daemon/run/run.h"
#include "daemon/signals.h"
#include "daemon/wakeup.h"

namespace fanline::daemon {

// The members stand in the order in which they need each other; the signals before any thread.
// One per process.
struct Process {
  // Throws as Admin does. `component` is the name in the log.
  Process(const std::string& component, const DaemonOptions& options)
      : log(component, options.log),
        health(options.health),
        admin(options.admin, registry, health, log),
        run_options(options.run) {}

  // Turns `part` until a stop was requested and drained (run.h): it has Step(Now) -> StepResult
  // and Drain(Now) -> DrainResult. Answers the process's exit code.
  template <typename Part>
  [[nodiscard]] int Run(Part& part) {
    return daemon::Run(run_options, wakeup, health, log,
                       {.stop_requested = [this] { return stop.requested(); },
                        .step = [&part](const Now& now) { return part.Step(now); },
                        .drain = [&part](const Now& now) { return part.Drain(now); }});
  }

  Log log;
  Wakeup wakeup;
  StopOnSignal stop{wakeup};  // SIGTERM, SIGINT
  Health health;
  prometheus::Registry registry;
  Admin admin;  // /metrics /healthz /readyz
  const RunOptions run_options;
};

}  // namespace fanline::daemon
