// Which member of a consumer group has which partition, for an operator's tools.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "backends/kafka/client_options.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"

namespace fanline::kafka {

struct GroupOwner {
  std::string client;  // its client.id
  std::string host;    // the address it comes from
};
using GroupOwners = std::map<int32_t, GroupOwner>;  // by partition; absent: nobody has it

// Asks the group's coordinator which of the topic's partitions its members have. kLater: nobody
// answers, or the group is rebalancing. Blocks at most `timeout`. Throws Misconfigured like the
// other clients.
Status ReadGroupOwners(const ClientOptions& options, const std::string& group,
                       const std::string& topic, Duration timeout, GroupOwners* owners);

}  // namespace fanline::kafka
