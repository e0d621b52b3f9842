#include "daemon/run/notify_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include "fanline/base/mono_now.h"
#include "fanline/base/number.h"

namespace fanline::daemon {
namespace {

std::string TextOf(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::optional<int64_t> NumberOf(const Environment& environment, std::string_view name) {
  return ParseNumber<int64_t>(TextOf(environment, name));
}

}  // namespace

NotifySettings ReadNotifySettings(const Environment& environment, int pid) {
  NotifySettings settings{.socket = TextOf(environment, "NOTIFY_SOCKET"), .watchdog = {}};
  const bool ours = NumberOf(environment, "WATCHDOG_PID").value_or(pid) == pid;
  const auto limit = NumberOf(environment, "WATCHDOG_USEC");
  if (ours && limit && *limit > 0) settings.watchdog = Duration(*limit);
  return settings;
}

int SendTo(const std::string& address, const std::string& message) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (address.size() >= sizeof to.sun_path) return ENAMETOOLONG;
  std::memcpy(to.sun_path, address.data(), address.size());
  if (address.starts_with('@')) to.sun_path[0] = '\0';  // an abstract name
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const ssize_t sent = sendto(fd, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&to), length);
  const int error = sent < 0 ? errno : 0;
  close(fd);
  return error;
}

Supervisor SupervisorOf(const Environment& environment, int pid, const Health& health,
                        const Log& log) {
  const NotifySettings settings = ReadNotifySettings(environment, pid);
  if (settings.socket.empty()) {
    return {[](const std::string&) { return true; }, settings.watchdog, health};
  }
  const auto tell = [log, name = settings.socket](const std::string& message) {
    const int error = SendTo(name, message);
    if (error == 0) return true;
    log.WarnEvery("supervisor", std::chrono::minutes(1), SystemNow().mono,
                  "the supervisor takes no message",
                  {{"socket", name}, {"reason", std::generic_category().message(error)}});
    return false;
  };
  return {tell, settings.watchdog, health};
}

}  // namespace fanline::daemon
