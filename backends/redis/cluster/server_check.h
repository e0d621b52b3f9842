// Checks once at start-up whether Redis, or each master of a Cluster, can hold timelines. Blocking.
#pragma once

#include <string>
#include <vector>

#include "backends/redis/client/options.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

// Lines "what; what to do about it".
struct ServerCheck {
  std::vector<std::string> refusals;  // do not start
  std::vector<std::string> warnings;  // it works, with drawbacks
  std::vector<std::string> full;      // takes no timeline until it has more memory
  std::string server;                 // "Valkey 9.1.0"; of several the last
};

// kLater: no server answered. A master that does not answer while others do only gets a warning,
// since the ranges of the others must not wait for it. A server that hides CONFIG is judged by
// INFO, with a warning for what could not be checked.
Status CheckServer(const Options& options, ServerCheck* out);

// What a server reports. A hidden setting is empty.
struct ServerSays {
  std::string info;              // sections server, memory and cluster
  std::string listpack_entries;  // zset-max-listpack-entries
  std::string full_coverage;     // cluster-require-full-coverage
  bool denied = false;           // hidden from this user only (NOPERM)
};

// Judges one server's report. Pure.
ServerCheck Judge(const ServerSays& says, const WindowLimits& window);

}  // namespace fanline::redis
