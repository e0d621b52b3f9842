// Whether Redis can hold timelines, each master of a Cluster, asked once at start-up. Blocking.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/redis/client/options.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

struct MasterMemory {
  std::string master = {};  // host:port
  uint64_t used = 0;        // bytes
  uint64_t most = 0;        // maxmemory; 0: no bound
};

// Each of the first four "what; what to do about it".
struct ServerCheck {
  std::vector<std::string> refusals;     // do not start
  std::vector<std::string> warnings;     // it works, at a price
  std::vector<std::string> full;         // it takes no timeline until it has more memory
  std::vector<std::string> nearly_full;  // it will, from 90 % of its maxmemory
  std::vector<MasterMemory> memory;      // of those that tell
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
