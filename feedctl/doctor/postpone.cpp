#include "feedctl/doctor/postpone.h"

#include <algorithm>
#include <string_view>

namespace fanline::feedctl {
namespace {

// What a command needs. `shards`: all stages before this one; none: the command does not use
// shards.
struct Needs {
  std::string_view command;
  std::optional<ShardStage> shards;
  bool redis = false;
  bool kafka = false;
};
constexpr auto kAllStages = static_cast<ShardStage>(static_cast<int>(ShardStage::kMigrated) + 1);
constexpr Needs kNeeds[] = {
    {"feedctl init", ShardStage::kInstalled},
    {"feedctl migrate", ShardStage::kMigrated},
    {"feedctl topics create", kAllStages, false, true},
    {"feedctl ranges", kAllStages},
    {"feedctl relations", kAllStages},
    {"feedctl dlq list", std::nullopt, false, true},
};
constexpr Needs kEverything = {"feedctl ", kAllStages, true, true};

// Null: the advice does not begin with a command of feedctl. A command mentioned later is not meant
// to be typed.
const Needs* NeedsOf(const std::string& advice) {
  for (const Needs& needs : kNeeds) {
    if (advice.starts_with(needs.command)) return &needs;
  }
  return advice.starts_with(kEverything.command) ? &kEverything : nullptr;
}

const char* NameOf(ShardStage stage) {
  switch (stage) {
    case ShardStage::kAnswer:
      return "once every shard answers";
    case ShardStage::kInstalled:
      return "after feedctl init";
    case ShardStage::kAgree:
      return "once the shards agree";
    case ShardStage::kMigrated:
      break;
  }
  return "after feedctl migrate";
}

std::string FirstOf(const Needs& needs, const Blocked& blocked) {
  if (needs.shards && blocked.shards && *blocked.shards < *needs.shards) {
    return NameOf(*blocked.shards);
  }
  if (needs.redis && blocked.redis) return "once Redis answers";
  if (needs.kafka && blocked.kafka) return "once Kafka answers";
  return "";
}

}  // namespace

Blocked BlockedBy(const std::vector<ShardFacts>& shards, const RedisFacts& redis,
                  const KafkaFacts& kafka) {
  Blocked blocked{.redis = static_cast<bool>(redis.away), .kafka = kafka.away};
  const auto lacks = [&](ShardStage stage) {
    blocked.shards = std::min(blocked.shards.value_or(stage), stage);
  };
  for (const ShardFacts& shard : shards) {
    if (shard.away) {
      lacks(ShardStage::kAnswer);
    } else if (!shard.installed) {
      lacks(ShardStage::kInstalled);
    } else if (shard.wrong) {
      lacks(ShardStage::kAgree);
    } else if (!shard.missing.empty()) {
      lacks(ShardStage::kMigrated);
    }
  }
  return blocked;
}

void Postpone(const Blocked& blocked, Checks* checks) {
  for (Check& check : *checks) {
    const Needs* needs = NeedsOf(check.advice);
    const std::string first = needs == nullptr ? "" : FirstOf(*needs, blocked);
    if (!first.empty()) check.advice = first + ": " + check.advice;
  }
}

}  // namespace fanline::feedctl
