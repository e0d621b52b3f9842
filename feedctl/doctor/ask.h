// Asks an installation's services how they are. Blocking; the options' timeouts bound each call. If
// a service does not answer, its facts say why and the others are still asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/mysql/installation/installation.h"
#include "feedctl/doctor/judge.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// What Explain says, as text and advice.
[[nodiscard]] Why WhyOf(const Status& status, const Settings& settings);

// The installation according to the shards that answer; none: no shard tells. Adds one ShardFacts
// per shard in any case.
[[nodiscard]] std::optional<mysql::Installation> AskShards(const Settings& settings,
                                                           std::vector<ShardFacts>* shards);

[[nodiscard]] RedisFacts AskRedis(const Settings& settings,
                                  const std::optional<mysql::Installation>& installation);

// The consumer groups whose members are asked for.
struct Groups {
  std::string dispatcher = "fanline-dispatcher";
  std::string pusher = "fanline-pusher";
  std::string mirror = "fanline-mirror";
  std::string reconciler = "fanline-reconciler";
};
// If Kafka is away, it is asked only once.
[[nodiscard]] KafkaFacts AskKafka(const Settings& settings, const Groups& groups);

}  // namespace fanline::feedctl
