#include "feedctl/doctor/judge.h"

#include <algorithm>
#include <cmath>

#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr uint64_t kCrashesAtLeast = 2;  // one may be a start under way

constexpr const char* kOwners = "owners";
constexpr const char* kLag = "lag";
constexpr const char* kLetters = "dead letters";
constexpr const char* kRelations = "relations";

constexpr const char* kKafkaIsAway = "not known: Kafka is away";
constexpr const char* kNoSettings = "not known: MariaDB shard 0 does not tell its settings";

std::string Aged(double seconds) {
  if (seconds < 120) return Seconds(seconds);
  if (seconds < 7200) return std::to_string(std::lround(seconds / 60)) + " min";
  return std::to_string(std::lround(seconds / 3600)) + " h";
}

Check NotKnown(const char* section, const char* name, std::string why) {
  return {section, name, Level::kNote, std::move(why)};
}

Check NoTopic(const char* section, std::string name) {
  return {section,
          std::move(name),
          Level::kLook,
          "there is no such topic",
          "feedctl topics create",
          "daemons.md#fanlinenotready"};
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

Check CrashesCheck(const std::vector<ShardFacts>& shards) {
  std::vector<Range> crashed;
  for (const ShardFacts& shard : shards) {
    for (const auto& [range, starts] : shard.crashes) {
      if (starts >= kCrashesAtLeast) crashed.push_back(range);
    }
  }
  const std::string not_known = NotKnownOf(shards);
  if (crashed.empty() && !not_known.empty()) return NotKnown(kOwners, "crashes", not_known);
  if (crashed.empty()) return {kOwners, "crashes", Level::kWell, "no pusher crashed"};
  return {kOwners,
          "crashes",
          Level::kLook,
          "pushers crashed, or were killed, while they owned " + Listed(crashed),
          "journalctl -u fanline-pusher, or kubectl logs --previous: read the last lines",
          "daemons.md#fanlinerestarts"};
}

// `oldest`: of the shards that answer.
Check ChangesCheck(const std::optional<double>& oldest, const std::string& not_known) {
  const bool all_tell = not_known.empty();
  std::string text = oldest ? "the oldest in log1 has waited for " + Aged(*oldest)
                            : std::string(all_tell ? "none waits in log1" : "");
  if (!all_tell) text += (text.empty() ? "" : "; ") + not_known;
  return {kRelations, "changes", all_tell ? Level::kWell : Level::kNote, text};
}

Check LogCheck(const LogFacts& log) {
  const std::string name = log.topic + " (" + log.group + ")";
  if (!log.asked) return NotKnown(kLag, name.c_str(), kKafkaIsAway);
  if (log.away) return Away(kLag, name, log.away);
  if (!log.exists) return NoTopic(kLag, name);
  const std::string text = Counted(log.waiting, "record") + (log.waiting == 1 ? " waits" : " wait");
  const bool nobody = log.members && *log.members == 0;
  const bool unused = nobody && !log.of_posts && !log.committed && log.waiting == 0;
  if (unused) return {kLag, name, Level::kNote, "nobody reads it, and nothing was written"};
  if (nobody) {
    return {kLag,
            name,
            Level::kLook,
            "nobody reads it; " + text,
            "start " + log.program,
            log.of_posts ? "daemons.md#fanlinenobodydelivers" : "daemons.md#fanlinenobodymirrors"};
  }
  const std::string readers = log.members ? ", " + Counted(*log.members, "reader") : "";
  return {kLag, name, Level::kWell, text + readers};
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
  checks.push_back(CrashesCheck(shards));
  return checks;
}

Checks JudgeLogs(const std::vector<LogFacts>& logs) {
  Checks checks;
  for (const LogFacts& log : logs) checks.push_back(LogCheck(log));
  return checks;
}

Checks JudgeLetters(const KafkaFacts& kafka, const std::string& since) {
  if (kafka.away) return {NotKnown(kLetters, "all topics", kKafkaIsAway)};
  Checks checks;
  uint64_t topics = 0;
  for (const LetterFacts& facts : kafka.letters) {
    const std::string list = "feedctl dlq list --topic " + facts.topic + " --since " + since;
    if (facts.away) {
      checks.push_back(Away(kLetters, facts.topic, facts.away));
    } else if (!facts.exists) {
      checks.push_back(NoTopic(kLetters, facts.topic));
    } else if (facts.waiting > 0) {
      checks.push_back({kLetters, facts.topic, Level::kLook,
                        (facts.more ? "at least " : "") + Counted(facts.waiting, "letter") +
                            " of the last " + since + ", not replayed",
                        list, "delivery.md#fanlinedeadletters"});
    } else if (facts.more) {  // the newest records may all be marks
      checks.push_back(
          {kLetters, facts.topic, Level::kLook,
           "none among the newest; older ones of the last " + since + " were not looked at", list});
    } else {
      ++topics;
    }
  }
  if (checks.empty()) {
    checks.push_back({kLetters, "all topics", Level::kWell, "none of the last " + since});
  } else if (topics > 0) {
    checks.push_back({kLetters, "others", Level::kWell, "none of the last " + since});
  }
  return checks;
}

Checks JudgeRelations(const std::vector<ShardFacts>& shards, const SettingFacts& settings) {
  Checks checks;
  std::string open;
  std::optional<double> oldest;
  const std::string not_known = NotKnownOf(shards);
  for (const ShardFacts& shard : shards) {
    for (const std::string& breaker : shard.open_breakers)
      open += (open.empty() ? "" : ", ") + breaker;
    if (shard.oldest_change_s) oldest = std::max(oldest.value_or(0), *shard.oldest_change_s);
  }
  if (!open.empty()) {
    checks.push_back({kRelations, "breakers", Level::kLook,
                      "open: no follower is removed of " + open,
                      "feedctl relations reconciler dry_run, and read the reconciler's log",
                      "relations.md#fanlinebreakeropen"});
  } else if (!not_known.empty()) {
    checks.push_back(NotKnown(kRelations, "breakers", not_known));
  } else if (settings.away) {
    checks.push_back(NotKnown(kRelations, "breakers", kNoSettings));
  } else {
    checks.push_back({kRelations, "breakers", Level::kWell, "closed"});
  }
  checks.push_back(ChangesCheck(oldest, not_known));
  if (settings.away) {
    checks.push_back(
        NotKnown(kRelations, "reconciler", not_known.empty() ? kNoSettings : not_known));
  } else if (settings.reconciler == ReconcilerMode::kRun) {
    checks.push_back({kRelations, "reconciler", Level::kWell, NameOf(settings.reconciler)});
  } else {
    checks.push_back({kRelations, "reconciler", Level::kNote, NameOf(settings.reconciler),
                      "feedctl relations reconciler run"});
  }
  return checks;
}

}  // namespace fanline::feedctl
