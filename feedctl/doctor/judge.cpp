#include "feedctl/doctor/judge.h"

#include <algorithm>
#include <map>

#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kStores = "stores";
constexpr const char* kOwners = "owners";
constexpr const char* kLogs = "logs";

constexpr const char* kKafkaIsAway = "not known: Kafka is away";
constexpr const char* kRowAdvice =
    "name the installation's shards by --mysql-shards, in the order of feedctl init, or set "
    "the row right there";

Check TablesCheck(std::string name, const ShardFacts& facts, bool newer_elsewhere) {
  Check check{kStores, std::move(name), Level::kWell, facts.server + " at " + facts.address};
  if (facts.refuses_writes) {
    check.level = Level::kLook;
    check.text += ": it refuses every write, as binlog_format is STATEMENT (error 1665)";
    check.advice = "SET GLOBAL binlog_format = ROW (clouds: the parameter group)";
    check.runbook = "refusals.md#what-all-agree-on";
  } else if (!facts.missing.empty()) {
    check.level = Level::kLook;
    check.text = "its tables are older than this feedctl: they lack " + facts.missing.front();
    if (facts.missing.size() > 1) check.text += " to " + facts.missing.back();
    // The newer shard refuses an older feedctl.
    check.advice = newer_elsewhere ? "feedctl migrate, of the newest version" : "feedctl migrate";
  } else if (!facts.procedures.empty()) {
    check.level = Level::kLook;
    check.text += ": it has no procedure " + facts.procedures.front();
    if (facts.procedures.size() > 1) check.text += ", no " + facts.procedures.back();
    check.text += ", or none that this account may execute";
    check.advice = "feedctl migrate, or give the account EXECUTE on the database";
  } else if (facts.newer) {
    check.level = Level::kNote;
    check.text += "; its tables are newer than this feedctl: they have had migration " +
                  std::to_string(*facts.newer);
    check.advice = "use the feedctl of that version: its feedctl migrate finishes what was begun";
  } else if (!facts.others.empty()) {  // a newer one comes with a migration
    check.level = Level::kLook;
    check.text += ": its procedure " + facts.others.front() + " is of another version";
    check.advice = "feedctl migrate";
  } else if (!facts.no_bell.text.empty()) {
    check.level = Level::kNote;
    check.text += ": mirrors may have to poll it in the mode log, too: " + facts.no_bell.text;
    check.advice = facts.no_bell.advice;
  }
  return check;
}

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
  return !shard.away && !shard.unfit && shard.installed && !shard.wrong && shard.read;
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
                        : "not known of " + Listed("shard", std::move(silent));
}

Checks JudgeShards(const std::vector<ShardFacts>& shards) {
  Checks checks;
  const bool newer = std::any_of(shards.begin(), shards.end(),
                                 [](const ShardFacts& facts) { return facts.newer.has_value(); });
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    const ShardFacts& facts = shards[shard];
    const std::string name = "shard " + std::to_string(shard);
    if (facts.away) {
      checks.push_back(Away(kStores, name, facts.away));
    } else if (facts.unfit) {
      checks.push_back({kStores, name, Level::kUnfit, facts.unfit.text, facts.unfit.advice,
                        "refusals.md#what-all-agree-on"});
    } else if (!facts.installed) {
      checks.push_back({kStores, name, Level::kInit,
                        facts.server + " at " + facts.address +
                            ": feedctl init has not been run, or did not reach it",
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

// Only Kafka knows who owns a range, and only Redis who has claimed it.
Checks JudgeRanges(const std::optional<mysql::Installation>& installation, const RedisFacts& redis,
                   const KafkaFacts& kafka, const std::vector<ShardFacts>& shards) {
  if (!installation) {
    const std::string why = NotKnownOf(shards);
    return {NotKnown(kOwners, "pushers", why), NotKnown(kOwners, "takeovers", why)};
  }
  return {kafka.away ? NotKnown(kOwners, "pushers", kKafkaIsAway)
                     : OwnersCheck(installation->partitions, kafka.owners),
          redis.away ? NotKnown(kOwners, "takeovers", "not known: Redis is away")
                     : ClaimsCheck(redis.ranges, installation->generation)};
}

Checks JudgeLogs(const std::vector<LogFacts>& logs) {
  Checks checks;
  for (const LogFacts& log : logs) checks.push_back(LogCheck(log));
  return checks;
}

Checks JudgeLogScan(const std::vector<ShardFacts>& shards) {
  constexpr std::chrono::hours kTooLong{1};  // as the alert has it
  const char* const name = "log scan";
  std::vector<uint64_t> never, behind;
  std::chrono::milliseconds most{0};
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    const ShardFacts& facts = shards[shard];
    if (!Tells(facts)) continue;
    if (!facts.unscanned) {
      never.push_back(shard);
      continue;
    }
    most = std::max(most, *facts.unscanned);
    if (*facts.unscanned > kTooLong) behind.push_back(shard);
  }
  const std::string ago = Counted(static_cast<uint64_t>(most.count() / 60'000), "minute") + " ago";
  if (!never.empty()) {
    return {{kLogs, name, Level::kNote, "it has never come to log1 of " + Listed("shard", never),
             "start fanline-reconciler"}};
  }
  if (!behind.empty()) {
    return {{kLogs, name, Level::kLook,
             "of " + Listed("shard", behind) + " it has compared nothing newer than " + ago,
             "look at the reconcilers' logs", "relations.md#fanlinelogscanstands"}};
  }
  const bool known = std::any_of(shards.begin(), shards.end(), Tells);
  if (!known) return {NotKnown(kLogs, name, NotKnownOf(shards))};
  return {{kLogs, name, Level::kWell, "all changes up to " + ago + " were compared"}};
}

namespace {

std::string ScanName(const mysql::FullScanFound& found) {
  return found.edges + " of shard " + std::to_string(found.shard);
}
std::chrono::milliseconds ScanLeft(const mysql::FullScanFound& found) {
  return LeftOf(found.place, found.total, found.now);
}
std::string InWords(std::chrono::milliseconds time) {
  const auto minutes = static_cast<uint64_t>(time.count() / 60'000);
  return minutes < 120 ? Counted(minutes, "minute") : Counted(minutes / 60, "hour");
}
// "following of shard 0 is at user 7, 45%, 2 hours left"
std::string ScanAt(const mysql::FullScanFound& found) {
  const FullScanPlace& place = found.place;
  const std::string at = ScanName(found) + " is at user " + std::to_string(place.after.owner);
  if (found.total == 0) return at;
  const uint64_t percent = std::min<uint64_t>(99, place.compared * 100 / found.total);
  return at + ", " + std::to_string(percent) + "%, " + InWords(ScanLeft(found)) + " left";
}

}  // namespace

Checks JudgeFullScan(const std::vector<ShardFacts>& shards) {
  constexpr std::chrono::hours kTooLong{24 * 7};  // as the alert has it
  const char* const name = "full scan";
  const char* const runbook = "relations.md#fanlinefullscanstands";
  std::vector<const mysql::FullScanFound*> begun;
  for (const ShardFacts& facts : shards) {
    for (const mysql::FullScanFound& found : facts.full_scans) {
      if (!found.place.stopped.empty()) {
        return {{kLogs, name, Level::kLook,
                 "it has stopped in " + ScanName(found) + ": " + found.place.stopped,
                 "find out why, then have it go on", runbook}};
      }
      if (found.place.began > 0) begun.push_back(&found);
    }
  }
  if (begun.empty()) {
    const bool known = std::any_of(shards.begin(), shards.end(), Tells);
    if (!known) return {NotKnown(kLogs, name, NotKnownOf(shards))};
    return {{kLogs, name, Level::kNote, "it has never begun",
             "start fanline-reconciler with --full-scan-rate above 0"}};
  }
  std::chrono::milliseconds ago{0};
  const mysql::FullScanFound* slowest = nullptr;
  bool passed = true;
  for (const mysql::FullScanFound* found : begun) {
    const FullScanPlace& place = found->place;
    passed = passed && place.passed > 0;
    ago = std::max(ago, std::chrono::milliseconds(found->now -
                                                  (place.passed > 0 ? place.passed : place.began)));
    if (place.after == ScanKey{}) continue;
    if (slowest == nullptr || ScanLeft(*found) > ScanLeft(*slowest)) slowest = found;
  }
  std::string what = passed ? "all rows were compared " + InWords(ago) + " ago"
                            : "it began " + InWords(ago) + " ago and has not come to the end yet";
  if (slowest != nullptr) what += "; " + ScanAt(*slowest);
  if (ago <= kTooLong) return {{kLogs, name, Level::kWell, what}};
  return {{kLogs, name, Level::kLook, what, "look at the reconcilers' logs", runbook}};
}

}  // namespace fanline::feedctl
