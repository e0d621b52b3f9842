// Asks an installation's services how they are. Blocking; each call is bounded by the options'
// time-outs, and what does not answer hides nothing else: its facts say why.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "backends/mysql/installation/installation.h"
#include "feedctl/doctor/judge.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// What Explain says, in two; there is advice.
[[nodiscard]] Why WhyOf(const Status& status, const Settings& settings);

// As the shards that answer have it; none: no shard tells. One fact per shard in any case.
[[nodiscard]] std::optional<mysql::Installation> AskShards(const Settings& settings,
                                                           std::vector<ShardFacts>* shards,
                                                           SettingFacts* agreed);

[[nodiscard]] RedisFacts AskRedis(const Settings& settings,
                                  const std::optional<mysql::Installation>& installation);

// The groups whose lags are asked for.
struct Groups {
  std::string dispatcher = "fanline-dispatcher";
  std::string pusher = "fanline-pusher";
  std::string mirror = "fanline-mirror";
  std::string reconciler = "fanline-reconciler";
};
// `since`: of the dead letters. A Kafka that is away is asked once.
[[nodiscard]] KafkaFacts AskKafka(const Settings& settings, const Groups& groups,
                                  std::chrono::milliseconds since);

}  // namespace fanline::feedctl
