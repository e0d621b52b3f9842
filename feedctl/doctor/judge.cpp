#include "feedctl/doctor/judge.h"

#include <algorithm>
#include <map>

#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kOwners = "owners";
constexpr const char* kLogs = "logs";
constexpr const char* kRelations = "relations";

constexpr const char* kKafkaIsAway = "not known: Kafka is away";
constexpr const char* kNoSettings = "not known: MariaDB shard 0 does not tell its settings";

Check NotKnown(const char* section, std::string name, std::string why) {
  return {section, std::move(name), Level::kNote, std::move(why)};
}

Check OwnersCheck(uint32_t ranges, const std::optional<kafka::GroupOwners>& owners) {
  if (!owners) {
    return {kOwners, "pushers", Level::kNote, "who owns the ranges is not known just now"};
  }
  std::vector<Range> nobodys;
  std::map<std::string, size_t> pushers;
  for (Range range = 0; range < static_cast<Range>(ranges); ++range) {
    const auto owner = owners->find(range);
    if (owner == owners->end()) {
      nobodys.push_back(range);
    } else {
      ++pushers[owner->second.client + "@" + owner->second.host];
    }
  }
  const std::string have = Counted(pushers.size(), "pusher") + " for " + Counted(ranges, "range");
  if (nobodys.empty()) return {kOwners, "pushers", Level::kWell, have};
  return {kOwners,
          "pushers",
          Level::kLook,
          have + "; nobody has " + Listed(nobodys),
          pushers.empty() ? "start fanline-pusher" : "feedctl ranges",
          "delivery.md#fanlinerangeswithoutowner"};
}

Check ClaimsCheck(const std::vector<redis::RangeState>& ranges, uint64_t generation) {
  std::vector<Range> unclaimed, foreign, unserved;
  uint64_t readers = 0;
  for (const redis::RangeState& range : ranges) {
    if (!range.status.done()) {
      unserved.push_back(range.range);
      continue;
    }
    readers += range.readers;
    if (!range.position) {
      unclaimed.push_back(range.range);
    } else if (range.position->generation != generation) {
      foreign.push_back(range.range);
    }
  }
  const std::string live = Counted(readers, "live timeline");
  if (!foreign.empty()) {
    return {
        kOwners,          "takeovers",
        Level::kLook,     live + "; " + Listed(foreign) + " hold another installation's position",
        "feedctl ranges", "delivery.md#fanlineredislosses"};
  }
  if (!unclaimed.empty()) {
    return {kOwners,          "takeovers",
            Level::kLook,     live + "; no pusher has claimed " + Listed(unclaimed),
            "feedctl ranges", "delivery.md#fanlinerangeswithoutowner"};
  }
  if (!unserved.empty()) {
    return NotKnown(kOwners, "takeovers", live + " elsewhere; not known of " + Listed(unserved));
  }
  return {kOwners, "takeovers", Level::kWell, live + ", every range is claimed"};
}

bool Tells(const ShardFacts& shard) {
  return !shard.away && shard.installed && !shard.wrong && shard.read;
}

Check LogCheck(const LogFacts& log) {
  const std::string name = log.topic + " (" + log.group + ")";
  if (!log.asked) return NotKnown(kLogs, name, kKafkaIsAway);
  if (log.away) return Away(kLogs, name, log.away);
  if (!log.missing.empty()) {
    return {kLogs,
            name,
            Level::kLook,
            "there is no topic " + log.missing,
            "feedctl topics create",
            "daemons.md#fanlinenotready"};
  }
  if (!log.members) return NotKnown(kLogs, name, "who reads it is not known just now");
  if (*log.members > 0) return {kLogs, name, Level::kWell, Counted(*log.members, "reader")};
  if (!log.of_posts) return {kLogs, name, Level::kNote, "nobody reads it", "start " + log.program};
  return {kLogs,
          name,
          Level::kLook,
          "nobody reads it",
          "start " + log.program,
          "daemons.md#fanlinenobodydelivers"};
}

}  // namespace

std::string Listed(const std::vector<Range>& ranges) {
  return Listed("range", {ranges.begin(), ranges.end()});
}

std::string Listed(const std::string& noun, std::vector<uint64_t> sorted) {
  std::sort(sorted.begin(), sorted.end());
  std::string text = noun + (sorted.size() == 1 ? " " : "s ");
  for (size_t i = 0; i < sorted.size(); ++i) {
    size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += (i > 0 ? ", " : "") + std::to_string(sorted[i]);
    if (last > i) text += (last == i + 1 ? ", " : "-") + std::to_string(sorted[last]);
    i = last;
  }
  return text;
}

std::string NotKnownOf(const std::vector<ShardFacts>& shards) {
  std::vector<uint64_t> silent;
  bool none_installed = true;
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    if (!Tells(shards[shard])) silent.push_back(shard);
    none_installed = none_installed && !shards[shard].installed;
  }
  if (silent.empty()) return "";
  return none_installed ? "not known before feedctl init"
                        : "not known of " + Listed("MariaDB shard", std::move(silent));
}

// Only Kafka knows who owns a range, and only Redis who has claimed it.
Checks JudgeRanges(const std::optional<mysql::Installation>& installation, const RedisFacts& redis,
                   const KafkaFacts& kafka, const std::vector<ShardFacts>& shards) {
  Checks checks;
  const std::string not_known = installation ? "" : NotKnownOf(shards);
  if (!installation) {
    checks.push_back(NotKnown(kOwners, "pushers", not_known));
  } else if (kafka.away) {
    checks.push_back(NotKnown(kOwners, "pushers", kKafkaIsAway));
  } else {
    checks.push_back(OwnersCheck(installation->partitions, kafka.owners));
  }
  if (!installation) {
    checks.push_back(NotKnown(kOwners, "takeovers", not_known));
  } else if (redis.away) {
    checks.push_back(NotKnown(kOwners, "takeovers", "not known: Redis is away"));
  } else {
    checks.push_back(ClaimsCheck(redis.ranges, installation->generation));
  }
  return checks;
}

Checks JudgeLogs(const std::vector<LogFacts>& logs) {
  Checks checks;
  for (const LogFacts& log : logs) checks.push_back(LogCheck(log));
  return checks;
}

Checks JudgeRelations(const std::vector<ShardFacts>& shards, const SettingFacts& settings) {
  constexpr const char* kReconciler = "reconciler";
  if (settings.away) {
    const std::string not_known = NotKnownOf(shards);
    return {NotKnown(kRelations, kReconciler, not_known.empty() ? kNoSettings : not_known)};
  }
  const std::string mode = NameOf(settings.reconciler);
  if (settings.reconciler == ReconcilerMode::kRun) {
    return {Check{kRelations, kReconciler, Level::kWell, mode}};
  }
  return {Check{kRelations, kReconciler, Level::kNote, mode, "feedctl relations reconciler run"}};
}

}  // namespace fanline::feedctl
