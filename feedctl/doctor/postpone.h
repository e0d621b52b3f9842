// Adds to advice that cannot be followed yet what has to come first. Pure; any thread.
#pragma once

#include <optional>

#include "feedctl/doctor/judge.h"

namespace fanline::feedctl {

// Stages of a shard; each requires those before it.
enum class ShardStage { kAnswer, kInstalled, kAgree, kMigrated };
struct Blocked {
  std::optional<ShardStage> shards = {};  // the first that not all shards have reached
  bool redis = false;
  bool kafka = false;
};
[[nodiscard]] Blocked BlockedBy(const std::vector<ShardFacts>& shards, const RedisFacts& redis,
                                const KafkaFacts& kafka);

// Changes advice that begins with a command of feedctl: "once every shard answers: feedctl ranges".
void Postpone(const Blocked& blocked, Checks* checks);

}  // namespace fanline::feedctl
