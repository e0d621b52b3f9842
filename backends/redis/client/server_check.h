// Whether a Redis server can hold timelines, asked once at start-up. Blocking.
#pragma once

#include <string>
#include <vector>

#include "backends/redis/client/options.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

struct ServerCheck {
  std::vector<std::string> refusals;  // do not start: each says what is wrong and what to set
  std::vector<std::string> warnings;  // it works, at a price
  std::string version;
};

// kLater: the server could not be asked. Servers that hide CONFIG are judged by what INFO shows,
// with a warning for what could not be seen.
Status CheckServer(const Options& options, ServerCheck* out);

// The judgement alone. Pure. `listpack_entries`: zset-max-listpack-entries, or the former name
// zset-max-ziplist-entries; empty when hidden.
ServerCheck Judge(std::string_view info, std::string_view listpack_entries,
                  const WindowLimits& window);

}  // namespace fanline::redis
