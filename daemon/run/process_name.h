// The name that a process gives to services, so that an operator can find it there.
#pragma once

#include <string>

namespace fanline::daemon {

// "PROGRAM-HOST-PID". In Kubernetes the host is the pod's name.
[[nodiscard]] std::string ProcessName(const std::string& program);

}  // namespace fanline::daemon
