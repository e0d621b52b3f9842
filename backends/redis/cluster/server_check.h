// Whether Redis can hold timelines, each master of a Cluster, asked once at start-up. Blocking.
#pragma once

#include <string>
#include <vector>

#include "backends/redis/client/options.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

// Each "what; what to do about it".
struct ServerCheck {
  std::vector<std::string> refusals;  // do not start
  std::vector<std::string> warnings;  // it works, at a price
  std::vector<std::string> full;      // it takes no timeline until it has more memory
};

// kLater: no server could be asked. A master that does not answer while others do is left out, with
// a warning: the ranges of the others must not wait for it. Servers that hide CONFIG are judged by
// what INFO shows, with a warning for what could not be seen.
Status CheckServer(const Options& options, ServerCheck* out);

// What a server says of itself. A setting that it hides is empty.
struct ServerSays {
  std::string info;              // sections server, memory and cluster
  std::string listpack_entries;  // zset-max-listpack-entries, or zset-max-ziplist-entries of before
  std::string full_coverage;     // cluster-require-full-coverage
};

// The judgement alone. Pure.
ServerCheck Judge(const ServerSays& says, const WindowLimits& window);

}  // namespace fanline::redis
