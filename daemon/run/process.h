// The parts that every daemon has. A main.cpp makes them before its own: from then on the process
// heeds signals, answers scrapes and probes, tells its supervisor, and can log.
#pragma once

#include <prometheus/registry.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "daemon/observe/admin.h"
#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "daemon/options/options.h"
#include "daemon/run/daemon_options.h"
#include "daemon/run/notify_socket.h"
#include "daemon/run/run.h"
#include "daemon/signals.h"
#include "daemon/wakeup.h"

namespace fanline::daemon {

// The members stand in the order in which they need each other; the signals before any thread.
// One per process.
struct Process {
  // Throws as Admin does. `component` is the name in the log. Not ready until Run.
  Process(const std::string& component, const DaemonOptions& options)
      : log(component, options.log),
        health(options.health),
        supervisor(SupervisorOf(ProcessEnvironment(), getpid(), health, log)),
        admin(options.admin, registry, health, log),
        run_options(options.run) {
    health.SetReady("loop", false, "starting");
  }

  // Turns `part` until a stop was requested and drained (run.h): it has Step(Now) -> StepResult and
  // Drain(Now) -> DrainResult. Returns the process's exit code, which is 78 after Refuse.
  template <typename Part>
  [[nodiscard]] int Run(Part& part) {
    const int code = daemon::Run(run_options, wakeup, health, supervisor, log,
                                 {.stop_requested = [this] { return stop.requested() || refused_; },
                                  .step = [&part](const Now& now) { return part.Step(now); },
                                  .drain = [&part](const Now& now) { return part.Drain(now); }});
    return refused_ ? kExitConfig : code;
  }

  // A check of the start no longer holds: logs the reason and ends Run as a stop does. The first
  // reason counts. Any thread.
  void Refuse(const std::string& reason) {
    if (refused_.exchange(true)) return;
    log.Error("refusing to go on", {{"reason", reason}});
    wakeup.Notify();
  }

  Log log;
  Wakeup wakeup;
  StopOnSignal stop{wakeup};  // SIGTERM, SIGINT
  Health health;
  Supervisor supervisor;  // for systemd, if there is one; main's thread
  prometheus::Registry registry;
  Admin admin;  // /metrics /healthz /readyz
  const RunOptions run_options;

 private:
  std::atomic<bool> refused_ = false;
};

}  // namespace fanline::daemon
