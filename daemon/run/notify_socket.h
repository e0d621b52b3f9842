// Sends datagrams to the socket of a supervisor that speaks systemd's protocol.
#pragma once

#include <optional>
#include <string>

#include "daemon/observe/log.h"
#include "daemon/options/options.h"
#include "daemon/run/supervisor.h"
#include "fanline/base/time.h"

namespace fanline::daemon {

// The supervisor's settings in the environment.
struct NotifySettings {
  std::string socket;                // NOTIFY_SOCKET: a path, or @name; empty: nobody listens
  std::optional<Duration> watchdog;  // WATCHDOG_USEC, if meant for us (WATCHDOG_PID)
};
[[nodiscard]] NotifySettings ReadNotifySettings(const Environment& environment, int pid);

// Sends one message, over a socket of its own; never blocks. Returns 0 or the errno: EAGAIN if the
// supervisor reads too slowly.
[[nodiscard]] int SendTo(const std::string& address, const std::string& message);

// The supervisor that the environment names. Without one, every message counts as sent. Failures
// are logged once a minute.
[[nodiscard]] Supervisor SupervisorOf(const Environment& environment, int pid, const Health& health,
                                      const Log& log);

}  // namespace fanline::daemon
