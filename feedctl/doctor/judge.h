// What the facts about an installation mean to whoever runs it. Pure; any thread. It only tells how
// long something waits: the alerts (prometheus/rules) judge whether that is too long.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/kafka/tools/group_owners.h"
#include "backends/mysql/installation/installation_row.h"
#include "backends/redis/cluster/server_check.h"
#include "backends/redis/range_states.h"
#include "fanline/ports/mirror_mode.h"
#include "fanline/ports/reconciler_mode.h"
#include "feedctl/doctor/check.h"

namespace fanline::feedctl {

// `away`, here and below: why it could not be asked, as feedctl's other commands say it; empty: the
// rest holds.
struct ShardFacts {
  std::string address = {};
  Why away = {};
  bool installed = true;                        // else feedctl init did not get there
  Why wrong = {};                               // it is not the installation's
  std::vector<std::string> missing = {};        // migrations that it has not had
  std::optional<uint32_t> newer = {};           // one that it has had, and nobody here knows
  bool read = true;                             // the rest; older tables may not have it
  std::optional<double> oldest_change_s = {};   // of log1; none: nothing waits
  std::vector<std::string> open_breakers = {};  // "follower 1": whose removals, of which shard
  std::map<Range, uint64_t> crashes = {};  // starts of its ranges' owners that nobody has settled
};
struct SettingFacts {
  Why away = {};
  ReconcilerMode reconciler = ReconcilerMode::kRun;
  MirrorMode mirror = MirrorMode::kAsync;
};

// The first four lists: "what; what to type".
struct RedisFacts {
  std::string address = {};
  Why away = {};
  std::vector<std::string> refusals = {};  // why pushers would not start
  std::vector<std::string> warnings = {};
  std::vector<std::string> full = {};  // masters that take no timeline
  std::vector<std::string> nearly_full = {};
  std::vector<redis::MasterMemory> memory = {};
  std::vector<redis::RangeState> ranges = {};
};

// How far a group is with a topic.
struct LogFacts {
  std::string topic = {};
  std::string group = {};
  std::string program = {};  // who is in that group
  bool of_posts = true;      // else of relations, which an installation may not use
  bool asked = true;         // else Kafka was away before
  Why away = {};
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
  Why away = {};
  bool exists = true;
  uint64_t waiting = 0;  // not replayed, set aside lately
  bool more = false;     // only the newest were looked at
};

struct KafkaFacts {
  bool away = false;                              // then no letters were looked at
  std::vector<LogFacts> logs = {};                // all of them
  std::optional<kafka::GroupOwners> owners = {};  // of the ranges; none: not known
  std::vector<LetterFacts> letters = {};
};

// Every line is there whatever is away: what cannot be known says why.
[[nodiscard]] Checks JudgeShards(const std::vector<ShardFacts>& shards);
[[nodiscard]] Checks JudgeRedis(const RedisFacts& redis);
// `installation`: none: no shard tells.
[[nodiscard]] Checks JudgeRanges(const std::optional<mysql::Installation>& installation,
                                 const RedisFacts& redis, const KafkaFacts& kafka,
                                 const std::vector<ShardFacts>& shards);
[[nodiscard]] Checks JudgeLogs(const std::vector<LogFacts>& logs);
[[nodiscard]] Checks JudgeLetters(const KafkaFacts& kafka, const std::string& since);
[[nodiscard]] Checks JudgeRelations(const std::vector<ShardFacts>& shards,
                                    const SettingFacts& settings);

// "", or why what the shards keep is not known whole: "not known of MariaDB shards 0, 2".
[[nodiscard]] std::string NotKnownOf(const std::vector<ShardFacts>& shards);

// "range 3", "ranges 3, 5-7"
[[nodiscard]] std::string Listed(const std::vector<Range>& ranges);
// The same of others: `noun` in the singular.
[[nodiscard]] std::string Listed(const std::string& noun, std::vector<uint64_t> numbers);

}  // namespace fanline::feedctl
