// What a process is called towards services, so that an operator finds it by what they show.
#pragma once

#include <string>

namespace fanline::daemon {

// "PROGRAM-HOST-PID". In Kubernetes the host is the pod's name.
[[nodiscard]] std::string ProcessName(const std::string& program);

}  // namespace fanline::daemon
