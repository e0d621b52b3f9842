#include "daemon/run/process_name.h"

#include <unistd.h>

namespace fanline::daemon {

std::string ProcessName(const std::string& program) {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return program + "-" + host + "-" + std::to_string(getpid());
}

}  // namespace fanline::daemon
