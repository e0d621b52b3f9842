// What the facts about an installation mean to whoever runs it. Pure; any thread. The thresholds
// are those of the alerts (prometheus/rules), but a look is a moment: what an alert wants to see
// for minutes is said at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/kafka/tools/group_owners.h"
#include "backends/redis/range_states.h"
#include "fanline/ports/mirror_mode.h"
#include "fanline/ports/reconciler_mode.h"
#include "feedctl/doctor/check.h"
#include "feedctl/doctor/scrape.h"

namespace fanline::feedctl {

// `away`, here and below: why it could not be asked, as feedctl's other commands say it; empty: the
// rest holds.
struct ShardFacts {
  std::string address = {};
  std::string away = {};
  std::string wrong = {};                       // it is not the installation's
  std::optional<double> oldest_change_s = {};   // of log1; none: nothing waits
  std::vector<std::string> open_breakers = {};  // "follower 1": whose removals, of which shard
  std::map<Range, uint64_t> crashes = {};  // starts of its ranges' owners that nobody has settled
};
struct SettingFacts {
  std::string away = {};
  ReconcilerMode reconciler = ReconcilerMode::kRun;
  MirrorMode mirror = MirrorMode::kAsync;
};

struct RedisFacts {
  std::string address = {};
  std::string away = {};
  std::vector<std::string> refusals = {};  // why pushers would not start
  std::vector<std::string> warnings = {};
  std::vector<std::string> full = {};  // masters that take no timeline
  std::vector<redis::RangeState> ranges = {};
};

// How far a group is with a topic.
struct LogFacts {
  std::string topic = {};
  std::string group = {};
  std::string program = {};  // who is in that group
  bool of_posts = true;      // else of relations, which an installation may not use
  std::string away = {};
  bool exists = true;
  std::optional<size_t> members = {};   // none: they share out partitions just now
  bool committed = false;               // it has ever finished anything
  uint64_t waiting = 0;                 // records
  std::optional<double> oldest_s = {};  // how long the oldest of them has been there, if known
  size_t unread = 0;  // partitions of which that is not known: an older one may be there
  std::vector<std::string> corrupt = {};  // "3/17": partition and offset that nobody can read
};

struct LetterFacts {
  std::string topic = {};
  std::string away = {};
  bool exists = true;
  uint64_t waiting = 0;  // not replayed, set aside lately
  bool more = false;     // only the newest were looked at
};

[[nodiscard]] Checks JudgeShards(const std::vector<ShardFacts>& shards);
[[nodiscard]] Checks JudgeRedis(const RedisFacts& redis);
// `owners`: none: not known.
[[nodiscard]] Checks JudgeRanges(const RedisFacts& redis, uint64_t generation,
                                 const std::optional<kafka::GroupOwners>& owners,
                                 const std::vector<ShardFacts>& shards);
[[nodiscard]] Checks JudgeLogs(const std::vector<LogFacts>& logs);
[[nodiscard]] Checks JudgeLetters(const std::vector<LetterFacts>& letters,
                                  const std::string& since);
[[nodiscard]] Checks JudgeRelations(const std::vector<ShardFacts>& shards,
                                    const SettingFacts& settings);

// A daemon's /metrics.
struct DaemonFacts {
  std::string address = {};
  std::string away = {};
  Metrics metrics = {};
  double now_s = 0;  // seconds since 1970, when it was asked
};
[[nodiscard]] Checks JudgeDaemons(const std::vector<DaemonFacts>& daemons);

// "3, 5-7"
[[nodiscard]] std::string Listed(const std::vector<Range>& ranges);

}  // namespace fanline::feedctl
