// What the facts about an installation mean for its operator. Pure; any thread. What waits, crashed
// or was set aside is judged by the alerts alone (prometheus/rules).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/kafka/admin.h"
#include "backends/mysql/installation/installation_row.h"
#include "backends/mysql/repairs/full_scan.h"
#include "backends/redis/cluster/server_check.h"
#include "backends/redis/range_states.h"
#include "feedctl/doctor/check.h"

namespace fanline::feedctl {

// `away`, here and below: why the service could not be asked, as other commands of feedctl word it.
// Empty: the other members are valid.
struct ShardFacts {
  std::string address = {};
  std::string server = {};  // "MySQL 9.7.4"
  Why away = {};
  Why unfit = {};                            // why this server cannot be a shard
  bool installed = true;                     // false: feedctl init has not reached it
  Why wrong = {};                            // why it does not belong to the installation
  std::vector<std::string> missing = {};     // migrations not applied
  std::optional<uint32_t> newer = {};        // an applied one that this feedctl does not know
  bool read = true;                          // whether its row was read; older tables lack it
  std::vector<std::string> procedures = {};  // not there, or not for this account to execute
  std::vector<std::string> others = {};      // procedures of another text than this feedctl's
  bool refuses_writes = false;               // by the format of its binary log
  Why no_bell = {};  // in the mirror mode `log`: why its binary log tells mirrors nothing
  // How long ago the oldest change was made that the log scan has not come to. None: it has never
  // begun here, or is not known.
  std::optional<std::chrono::milliseconds> unscanned = {};
  std::vector<mysql::FullScanFound> full_scans = {};
};

// The first three lists hold lines "what; what to type".
struct RedisFacts {
  std::string address = {};
  Why away = {};
  std::vector<std::string> refusals = {};  // why pushers would not start
  std::vector<std::string> warnings = {};
  std::vector<std::string> full = {};  // masters that take no timeline
  std::vector<redis::RangeState> ranges = {};
};

// Whether a topic is there, and who reads it.
struct LogFacts {
  std::string topic = {};
  std::string group = {};
  std::string program = {};  // the group's program
  bool of_posts = true;      // false: of relations, which are optional
  bool asked = true;         // false: Kafka was already away
  Why away = {};
  std::string missing = {};            // this topic, or that of its dead letters; empty: none
  std::optional<size_t> members = {};  // none: the group is rebalancing
};

struct KafkaFacts {
  bool away = false;
  std::vector<LogFacts> logs = {};
  std::optional<kafka::GroupOwners> owners = {};  // of the ranges; none: unknown
};

// Every line is present even if a service is away; it then says why it is not known.
[[nodiscard]] Checks JudgeShards(const std::vector<ShardFacts>& shards);
[[nodiscard]] Checks JudgeRedis(const RedisFacts& redis);
// `installation`: none if no shard tells.
[[nodiscard]] Checks JudgeRanges(const std::optional<mysql::Installation>& installation,
                                 const RedisFacts& redis, const KafkaFacts& kafka,
                                 const std::vector<ShardFacts>& shards);
[[nodiscard]] Checks JudgeLogs(const std::vector<LogFacts>& logs);
// When the log scan has last come through log1 of all shards.
[[nodiscard]] Checks JudgeLogScan(const std::vector<ShardFacts>& shards);
// When the full scan last came to the end, how far it is, and whether it has stopped.
[[nodiscard]] Checks JudgeFullScan(const std::vector<ShardFacts>& shards);

// "", or which shards are unknown: "not known of shards 0, 2".
[[nodiscard]] std::string NotKnownOf(const std::vector<ShardFacts>& shards);

// "range 3", "ranges 3, 5-7"
[[nodiscard]] std::string Listed(const std::vector<Range>& ranges);
// The same for other nouns, given in the singular.
[[nodiscard]] std::string Listed(const std::string& noun, std::vector<uint64_t> numbers);

}  // namespace fanline::feedctl
