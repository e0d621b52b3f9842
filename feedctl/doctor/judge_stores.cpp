// Whether the shards and Redis answer, and fit the installation.
#include <algorithm>
#include <map>

#include "feedctl/doctor/judge.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kStores = "stores";
constexpr const char* kRowAdvice =
    "name the installation's shards by --mysql-shards, in the order of feedctl init, or set "
    "the row right there";

Check TablesCheck(std::string name, const ShardFacts& facts, bool newer_elsewhere) {
  Check check{kStores, std::move(name), Level::kWell, facts.address};
  if (!facts.missing.empty()) {
    check.level = Level::kLook;
    check.text = "its tables are older than this feedctl: they lack " + facts.missing.front();
    if (facts.missing.size() > 1) check.text += " to " + facts.missing.back();
    // The newer shard refuses an older feedctl.
    check.advice = newer_elsewhere ? "feedctl migrate, of the newest version" : "feedctl migrate";
  } else if (facts.newer) {
    check.level = Level::kNote;
    check.text += "; its tables are newer than this feedctl: they have had migration " +
                  std::to_string(*facts.newer);
    check.advice = "use the feedctl of that version: its feedctl migrate finishes what was begun";
  }
  return check;
}

}  // namespace

Checks JudgeShards(const std::vector<ShardFacts>& shards) {
  Checks checks;
  const bool newer = std::any_of(shards.begin(), shards.end(),
                                 [](const ShardFacts& facts) { return facts.newer.has_value(); });
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    const ShardFacts& facts = shards[shard];
    const std::string name = "MariaDB shard " + std::to_string(shard);
    if (facts.away) {
      checks.push_back(Away(kStores, name, facts.away));
    } else if (!facts.installed) {
      checks.push_back({kStores, name, Level::kInit,
                        facts.address + ": feedctl init has not been run, or did not reach it",
                        "feedctl init"});
    } else if (facts.wrong) {
      checks.push_back({kStores, name, Level::kLook, facts.wrong.text,
                        facts.wrong.advice.empty() ? kRowAdvice : facts.wrong.advice,
                        "daemons.md#fanlinenotready"});
    } else {
      checks.push_back(TablesCheck(name, facts, newer));
    }
  }
  return checks;
}

Checks JudgeRedis(const RedisFacts& redis) {
  if (redis.away) return {Away(kStores, "Redis", redis.away)};
  Checks checks;
  const auto add = [&checks](Level level, const std::string& complaint, const char* advice,
                             const char* runbook) {
    const Why why = WhyOf(complaint, advice);
    checks.push_back({kStores, "Redis", level, why.text, why.advice, runbook});
  };
  for (const std::string& refusal : redis.refusals) {
    add(Level::kLook, refusal, "change that setting, and start the daemons",
        "daemons.md#fanlinenotready");
  }
  for (const std::string& full : redis.full) {
    add(Level::kLook, full, "give it more memory", "delivery.md#fanlineredisfull");
  }
  // Groups ranges by what is wrong with them.
  std::map<std::string, std::vector<Range>> unserved;
  for (const redis::RangeState& range : redis.ranges) {
    if (!range.status.done()) unserved[range.status.message].push_back(range.range);
  }
  for (const auto& [why, ranges] : unserved) {
    checks.push_back(Away(
        kStores, "Redis",
        {Listed(ranges) + ": " + why, "redis-cli --cluster check, and bring their master back"}));
  }
  if (checks.empty()) {
    checks.push_back({kStores, "Redis", Level::kWell, redis.address});
  }
  for (const std::string& warning : redis.warnings) add(Level::kNote, warning, "", "");
  return checks;
}

}  // namespace fanline::feedctl
