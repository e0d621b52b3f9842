// How many masters hold the timelines. Blocking; for tools.
#pragma once

#include <cstdint>

#include "backends/redis/client/options.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

// 1 for a single node; of a Cluster the masters that serve slots, as this node sees them.
Status CountMasters(const Options& options, uint32_t* masters);

}  // namespace fanline::redis
