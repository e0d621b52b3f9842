// How far a consumer group is with a topic, for an operator's tools. Nothing is consumed, no group
// is joined.
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
  std::optional<int64_t> committed;  // the group's; none: it has committed nothing there
  int64_t low = 0;                   // the log's first offset
  int64_t end = 0;                   // of the next record

  // Where the group goes on, and how many records wait there.
  [[nodiscard]] int64_t from() const { return committed && *committed > low ? *committed : low; }
  [[nodiscard]] int64_t records() const { return end > from() ? end - from() : 0; }
};

// Of each of the topic's partitions, in order; `partitions` is their number. Blocking, each of
// three calls at most `timeout`. Throws Misconfigured like the other clients.
Status ReadGroupLag(const ClientOptions& options, const std::string& group,
                    const std::string& topic, int32_t partitions, Duration timeout,
                    std::vector<PartitionLag>* lags);

}  // namespace fanline::kafka
