#include "feedctl/doctor/judge.h"

#include <algorithm>
#include <cmath>

#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr double kLateSeconds = 60;         // FanlineDeliveryLag
constexpr double kFollowsLateSeconds = 30;  // FanlineFollowsLate
constexpr uint64_t kCrashesAtLeast = 2;     // one is a start that is under way

constexpr const char* kStores = "stores";
constexpr const char* kOwners = "owners";
constexpr const char* kLag = "lag";
constexpr const char* kLetters = "dead letters";
constexpr const char* kRelations = "relations";

constexpr const char* kNotOfEvery = "not known of every shard";

std::string Aged(double seconds) {
  if (seconds < 120) return Seconds(seconds);
  if (seconds < 7200) return std::to_string(std::lround(seconds / 60)) + " min";
  return std::to_string(std::lround(seconds / 3600)) + " h";
}

Check Away(const char* section, std::string name, std::string why) {
  return {section, std::move(name), Level::kAway, std::move(why), "", "stores.md#fanlinestoreaway"};
}

Check NoTopic(const char* section, std::string name) {
  return {section,
          std::move(name),
          Level::kLook,
          "there is no such topic",
          "feedctl topics create",
          "daemons.md#fanlinenotready"};
}

// Ranges told apart by what is wrong with them.
using Wrong = std::map<std::string, std::vector<Range>>;

Wrong UnservedOf(const std::vector<redis::RangeState>& ranges) {
  Wrong wrong;
  for (const redis::RangeState& range : ranges) {
    if (!range.status.done()) wrong[range.status.message].push_back(range.range);
  }
  return wrong;
}

Check OwnersCheck(const std::vector<redis::RangeState>& ranges,
                  const std::optional<kafka::GroupOwners>& owners) {
  if (!owners) {
    return {kOwners, "pushers", Level::kNote, "who owns the ranges is not known just now"};
  }
  std::vector<Range> nobodys;
  std::map<std::string, size_t> pushers;
  for (const redis::RangeState& range : ranges) {
    const auto owner = owners->find(range.range);
    if (owner == owners->end()) {
      nobodys.push_back(range.range);
    } else {
      ++pushers[owner->second.client + "@" + owner->second.host];
    }
  }
  const std::string have =
      Counted(pushers.size(), "pusher") + " for " + Counted(ranges.size(), "range");
  if (nobodys.empty()) return {kOwners, "pushers", Level::kWell, have};
  return {kOwners,
          "pushers",
          Level::kLook,
          have + "; nobody has " + Listed(nobodys),
          pushers.empty() ? "start fanline-pusher" : "feedctl ranges",
          "delivery.md#fanlinerangeswithoutowner"};
}

Check ClaimsCheck(const std::vector<redis::RangeState>& ranges, uint64_t generation) {
  std::vector<Range> unclaimed, foreign;
  uint64_t readers = 0;
  for (const redis::RangeState& range : ranges) {
    if (!range.status.done()) continue;
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
  return {kOwners, "takeovers", Level::kWell, live + ", every range is claimed"};
}

// If so, what none of them tells of is nowhere.
bool AllAnswer(const std::vector<ShardFacts>& shards) {
  return std::all_of(shards.begin(), shards.end(), [](const ShardFacts& shard) {
    return shard.away.empty() && shard.wrong.empty();
  });
}

Check CrashesCheck(const std::vector<ShardFacts>& shards) {
  std::vector<Range> crashed;
  for (const ShardFacts& shard : shards) {
    for (const auto& [range, starts] : shard.crashes) {
      if (starts >= kCrashesAtLeast) crashed.push_back(range);
    }
  }
  if (crashed.empty() && !AllAnswer(shards)) {
    return {kOwners, "crashes", Level::kNote, kNotOfEvery};
  }
  if (crashed.empty()) return {kOwners, "crashes", Level::kWell, "no owner ended without a word"};
  return {kOwners,
          "crashes",
          Level::kLook,
          "owners of " + Listed(crashed) + " ended without a word, lately or again and again",
          "look for the pushers' last words (out of memory, a signal)",
          "delivery.md#fanlinetakeoverstorm"};
}

// `oldest`: of the shards that answer.
Check ChangesCheck(const std::optional<double>& oldest, bool all_answer) {
  std::string text = oldest ? "the oldest in log1 has waited for " + Aged(*oldest)
                            : std::string(all_answer ? "none waits in log1" : "");
  if (!all_answer) text += (text.empty() ? "" : "; ") + std::string(kNotOfEvery);
  if (oldest && *oldest > kFollowsLateSeconds) {
    return {kRelations,
            "changes",
            Level::kLook,
            text,
            "is a fanline-mirror running, and does every shard answer?",
            "relations.md#fanlinefollowslate"};
  }
  return {kRelations, "changes", all_answer ? Level::kWell : Level::kNote, text};
}

// Waiting mends none of it, whoever reads.
Check CorruptCheck(const LogFacts& log, const std::string& name, const std::string& waiting) {
  std::string places;
  for (const std::string& place : log.corrupt) places += (places.empty() ? "" : ", ") + place;
  return {kLag,
          name,
          Level::kLook,
          "nobody can read on at " + places + " (partition/offset); " + waiting,
          "move its leader to a good replica, or delete the records below the next good offset",
          "stores.md#fanlinelogunreadable"};
}

Check LogCheck(const LogFacts& log) {
  const std::string name = log.topic + " (" + log.group + ")";
  if (!log.away.empty()) return Away(kLag, name, log.away);
  if (!log.exists) return NoTopic(kLag, name);
  std::string text = Counted(log.waiting, "record") + (log.waiting == 1 ? " waits" : " wait");
  if (log.oldest_s && log.waiting > 0) text += ", the oldest for " + Aged(*log.oldest_s);
  if (!log.corrupt.empty()) return CorruptCheck(log, name, text);
  const bool nobody = log.members && *log.members == 0;
  const bool unused = nobody && !log.of_posts && !log.committed && log.waiting == 0;
  if (unused) return {kLag, name, Level::kNote, "nobody reads it, and nothing was written"};
  const char* late_page =
      log.of_posts ? "delivery.md#fanlinedeliverylag" : "relations.md#fanlinefollowslate";
  if (nobody) {
    return {kLag,
            name,
            Level::kLook,
            "nobody reads it; " + text,
            "start " + log.program,
            log.of_posts ? "daemons.md#fanlinenobodydelivers" : "daemons.md#fanlinenobodymirrors"};
  }
  const double late = log.of_posts ? kLateSeconds : kFollowsLateSeconds;
  if (log.waiting > 0 && log.oldest_s && *log.oldest_s > late) {
    return {kLag,
            name,
            Level::kLook,
            text,
            "curl -s http://ADMIN-PORT/readyz of each " + log.program,
            late_page};
  }
  if (log.members) text += ", " + Counted(*log.members, "reader");
  if (log.unread > 0) {
    text += "; the oldest of " + Counted(log.unread, "partition") + " is not known";
    return {kLag, name, Level::kNote, text, "look again"};
  }
  return {kLag, name, Level::kWell, text};
}

}  // namespace

std::string Listed(const std::vector<Range>& ranges) {
  std::vector<Range> sorted = ranges;
  std::sort(sorted.begin(), sorted.end());
  std::string text = sorted.size() == 1 ? "range " : "ranges ";
  for (size_t i = 0; i < sorted.size(); ++i) {
    size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += (i > 0 ? ", " : "") + std::to_string(sorted[i]);
    if (last > i) text += (last == i + 1 ? ", " : "-") + std::to_string(sorted[last]);
    i = last;
  }
  return text;
}

Checks JudgeShards(const std::vector<ShardFacts>& shards) {
  Checks checks;
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    const ShardFacts& facts = shards[shard];
    const std::string name = "MariaDB shard " + std::to_string(shard);
    if (!facts.away.empty()) {
      checks.push_back(Away(kStores, name, facts.away));
    } else if (!facts.wrong.empty()) {
      checks.push_back({kStores, name, Level::kLook, facts.wrong, "see docs/refusals.md",
                        "daemons.md#fanlinenotready"});
    } else {
      checks.push_back({kStores, name, Level::kWell, facts.address});
    }
  }
  return checks;
}

Checks JudgeRedis(const RedisFacts& redis) {
  if (!redis.away.empty()) return {Away(kStores, "Redis", redis.away)};
  Checks checks;
  for (const std::string& refusal : redis.refusals) {
    checks.push_back({kStores, "Redis", Level::kLook, refusal, "see docs/refusals.md",
                      "stores.md#fanlinestoreaway"});
  }
  for (const std::string& full : redis.full) {
    checks.push_back({kStores, "Redis", Level::kLook, full, "give it more memory",
                      "delivery.md#fanlineredisfull"});
  }
  for (const auto& [why, ranges] : UnservedOf(redis.ranges)) {
    checks.push_back(Away(kStores, "Redis", Listed(ranges) + ": " + why));
  }
  if (checks.empty()) checks.push_back({kStores, "Redis", Level::kWell, redis.address});
  for (const std::string& warning : redis.warnings) {
    checks.push_back({kStores, "Redis", Level::kNote, warning});
  }
  return checks;
}

Checks JudgeRanges(const RedisFacts& redis, uint64_t generation,
                   const std::optional<kafka::GroupOwners>& owners,
                   const std::vector<ShardFacts>& shards) {
  Checks checks;
  if (redis.away.empty()) {
    checks.push_back(OwnersCheck(redis.ranges, owners));
    checks.push_back(ClaimsCheck(redis.ranges, generation));
  }
  checks.push_back(CrashesCheck(shards));
  return checks;
}

Checks JudgeLogs(const std::vector<LogFacts>& logs) {
  Checks checks;
  for (const LogFacts& log : logs) checks.push_back(LogCheck(log));
  return checks;
}

Checks JudgeLetters(const std::vector<LetterFacts>& letters, const std::string& since) {
  Checks checks;
  uint64_t topics = 0;
  for (const LetterFacts& facts : letters) {
    const std::string list = "feedctl dlq list --topic " + facts.topic + " --since " + since;
    if (!facts.away.empty()) {
      checks.push_back(Away(kLetters, facts.topic, facts.away));
    } else if (!facts.exists) {
      checks.push_back(NoTopic(kLetters, facts.topic));
    } else if (facts.waiting > 0) {
      checks.push_back({kLetters, facts.topic, Level::kLook,
                        (facts.more ? "at least " : "") + Counted(facts.waiting, "letter") +
                            " of the last " + since + ", not replayed",
                        list, "delivery.md#fanlinedeadletters"});
    } else if (facts.more) {  // the newest may all be marks of what was replayed
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
  const bool all_answer = AllAnswer(shards);
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
  } else if (all_answer && settings.away.empty()) {
    checks.push_back({kRelations, "breakers", Level::kWell, "closed"});
  } else {
    checks.push_back({kRelations, "breakers", Level::kNote, kNotOfEvery});
  }
  checks.push_back(ChangesCheck(oldest, all_answer));
  if (settings.away.empty()) {
    const bool runs = settings.reconciler == ReconcilerMode::kRun;
    checks.push_back({kRelations, "reconciler", runs ? Level::kWell : Level::kNote,
                      NameOf(settings.reconciler), "feedctl relations reconciler run"});
  }
  return checks;
}

}  // namespace fanline::feedctl
