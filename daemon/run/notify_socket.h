// The way to a supervisor that speaks systemd's protocol: datagrams to the socket that it names.
#pragma once

#include <optional>
#include <string>

#include "daemon/observe/log.h"
#include "daemon/options/options.h"
#include "daemon/run/supervisor.h"
#include "fanline/base/time.h"

namespace fanline::daemon {

// What the supervisor put into the environment.
struct NotifySettings {
  std::string socket;                // NOTIFY_SOCKET: a path, or @name; empty: nobody listens
  std::optional<Duration> watchdog;  // WATCHDOG_USEC, when it is meant for us (WATCHDOG_PID)
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

  // One message; never blocks. 0, or the errno of why it was not taken: EAGAIN when the supervisor
  // reads too slowly.
  [[nodiscard]] int Send(const std::string& message) const;

 private:
  const std::string address_;
  const int fd_;
};

// The supervisor that the environment names. Where it names none, everything counts as said. What
// is not taken is in the log, once a minute.
[[nodiscard]] Supervisor SupervisorOf(const Environment& environment, int pid, const Health& health,
                                      const Log& log);

}  // namespace fanline::daemon
