// How far a consumer group has read a topic, for an operator's tools. Consumes nothing and joins no
// group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/kafka/client_options.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"

namespace fanline::kafka {

struct PartitionLag {
  int32_t partition = 0;
  std::optional<int64_t> committed;  // none: the group has committed nothing there
  int64_t low = 0;                   // the log's first offset
  int64_t end = 0;                   // the next record's offset

  // Where the group goes on, and how many records wait there.
  [[nodiscard]] int64_t from() const { return committed && *committed > low ? *committed : low; }
  [[nodiscard]] int64_t records() const { return end > from() ? end - from() : 0; }
};

// One entry per partition of the topic, in order; `partitions` is their number. Blocks for three
// calls of at most `timeout` each. Throws Misconfigured like the other clients.
Status ReadGroupLag(const ClientOptions& options, const std::string& group,
                    const std::string& topic, int32_t partitions, Duration timeout,
                    std::vector<PartitionLag>* lags);

}  // namespace fanline::kafka
