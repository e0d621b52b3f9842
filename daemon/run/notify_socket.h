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

// One thread.
class NotifySocket {
 public:
  // Throws std::system_error when the process has no file descriptor left.
  explicit NotifySocket(std::string address);
  ~NotifySocket();
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // Sends one message; never blocks. Returns 0 or the errno: EAGAIN if the supervisor reads too
  // slowly.
  [[nodiscard]] int Send(const std::string& message) const;

 private:
  const std::string address_;
  const int fd_;
};

// The supervisor that the environment names. Without one, every message counts as sent. Failures
// are logged once a minute.
[[nodiscard]] Supervisor SupervisorOf(const Environment& environment, int pid, const Health& health,
                                      const Log& log);

}  // namespace fanline::daemon
