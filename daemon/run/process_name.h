// The name that a process gives to services, so that an operator can find it there.
#pragma once

#include <unistd.h>

#include <string>

namespace fanline::daemon {

// "PROGRAM-HOST-PID". In Kubernetes the host is the pod's name.
[[nodiscard]] inline std::string ProcessName(const std::string& program) {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return program + "-" + host + "-" + std::to_string(getpid());
}

}  // namespace fanline::daemon
