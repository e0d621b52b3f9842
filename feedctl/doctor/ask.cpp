#include "feedctl/doctor/ask.h"

#include <algorithm>
#include <set>

#include "backends/kafka/admin.h"
#include "backends/kafka/tools/group_lag.h"
#include "backends/mysql/edges/change_log.h"
#include "backends/mysql/installation/owned_ranges.h"
#include "backends/mysql/installation/settings.h"
#include "backends/mysql/repairs/removals.h"
#include "backends/redis/cluster/server_check.h"
#include "daemon/clock.h"
#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"
#include "feedctl/dead_letters/letter_log.h"
#include "feedctl/support/explain.h"

namespace fanline::feedctl {
namespace {

constexpr Duration kKafkaTimeout = std::chrono::seconds(5);
constexpr const char* kSetItRight = "set right what it names";
constexpr const char* kLookAtItsLog = "look at that service's own log";
constexpr int64_t kMostLetters = 10'000;  // looked at per topic

double SecondsSince(UnixMs then) {
  return std::max<double>(0, static_cast<double>(daemon::SystemNow().unix_ms - then) / 1000);
}

std::string AddressOf(const mysql::ShardAddress& shard) {
  return shard.host + ":" + std::to_string(shard.port) + "/" + shard.database;
}

// ---- shards ----

// False: the shard is away or was never installed, so there is nothing more to ask.
bool AskTables(mysql::ShardConnections& connections, Shard shard, const Settings& settings,
               ShardFacts& facts) {
  mysql::TablesFound tables;
  const Status status = connections.Run(
      shard, [&](mysql::Connection& connection) { tables = mysql::FindTables(connection); });
  if (!status.done()) facts.away = WhyOf(status, settings);
  facts.installed = facts.away || tables.installed;
  for (const mysql::Migration* migration : tables.missing) {
    facts.missing.emplace_back(migration->file);
  }
  facts.newer = tables.newer;
  return status.done() && tables.installed;
}

Status AskRows(mysql::ShardConnections& connections, Shard shard, std::optional<uint64_t> closings,
               ShardFacts& facts) {
  return connections.Run(shard, [&](mysql::Connection& connection) {
    const auto oldest = mysql::PendingChanges(connection, 0, 1);
    if (!oldest.empty()) facts.oldest_change_s = SecondsSince(oldest.front().written_at);
    facts.crashes = mysql::ReadUnsettledStarts(connection);
    facts.open_breakers.clear();
    if (!closings) return;
    for (const auto& [edges, of] : mysql::ReadOpenBreakers(connection, *closings)) {
      facts.open_breakers.push_back(edges + " on shard " + std::to_string(of));
    }
  });
}

// `row`: whether the shard holds the installation's row.
void AskShard(mysql::ShardConnections& connections, Shard shard, const Settings& settings,
              const Status& row, std::optional<uint64_t> closings, ShardFacts& facts) {
  if (!AskTables(connections, shard, settings, facts)) return;
  if (row.never()) {
    facts.wrong = WhyOf(row.message, "");
    return;
  }
  const Status status = row.done() ? AskRows(connections, shard, closings, facts) : row;
  facts.read = status.done();
  // Older tables may lack what was read; feedctl migrate adds it.
  if (!facts.read && facts.missing.empty()) facts.away = WhyOf(status, settings);
}

// ---- Kafka ----

struct Log {
  std::string topic, group, program;
  bool of_posts = true;
};

std::vector<Log> LogsOf(const options::TopicSettings& topics, const Groups& groups) {
  return {{topics.feed, groups.dispatcher, "fanline-dispatcher"},
          {topics.tasks, groups.pusher, "fanline-pusher"},
          {topics.relation_events, groups.mirror + "-events", "fanline-mirror", false},
          {kRelationLogTopic, groups.reconciler, "fanline-reconciler", false},
          {kRelationRetryTopic, groups.reconciler + "-retry", "fanline-reconciler", false}};
}

class KafkaAsker {
 public:
  explicit KafkaAsker(const Settings& settings)
      : settings_(settings),
        options_(options::ToOptions(settings.kafka, kClientId)),
        admin_(options_, kKafkaTimeout, [](LogLevel, const std::string&) {}) {}

  // No broker answers at all. If only some log or group fails, the others may still be asked.
  bool silent() const { return silent_; }

  static LogFacts Unasked(const Log& log) {
    LogFacts facts{log.topic, log.group, log.program, log.of_posts};
    facts.asked = false;
    return facts;
  }

  LogFacts Ask(const Log& log) {
    LogFacts facts{log.topic, log.group, log.program, log.of_posts};
    int32_t partitions = 0;
    if (!Count(log.topic, &partitions, facts.away)) return facts;
    facts.exists = partitions > 0;
    if (!facts.exists) return facts;
    std::vector<kafka::PartitionLag> lags;
    const Status asked =
        kafka::ReadGroupLag(options_, log.group, log.topic, partitions, kKafkaTimeout, &lags);
    if (!Keep(asked, facts.away)) return facts;
    for (const kafka::PartitionLag& lag : lags) {
      facts.waiting += static_cast<uint64_t>(lag.records());
      facts.committed = facts.committed || lag.committed.has_value();
    }
    AskMembers(log, facts);
    return facts;
  }

  std::optional<kafka::GroupOwners> OwnersOf(const std::string& group, const std::string& topic) {
    kafka::GroupOwners owners;
    const Status asked = kafka::ReadGroupOwners(options_, group, topic, kKafkaTimeout, &owners);
    return asked.done() ? std::optional(std::move(owners)) : std::nullopt;
  }

  LetterFacts AskLetters(const LetterTopic& topic, std::chrono::milliseconds since) {
    LetterFacts facts{.topic = topic.name};
    int32_t partitions = 0;
    if (!Count(topic.name, &partitions, facts.away)) return facts;
    facts.exists = partitions > 0;
    if (!facts.exists) return facts;
    Selection selection{.topics = {topic}};
    selection.since = daemon::SystemNow().unix_ms - since.count();
    selection.newest = std::max<int64_t>(kMostLetters / partitions, 1);
    try {
      facts.more = !ForEachLetter(settings_, selection, [&facts](const Letter& letter) {
        facts.waiting += letter.replayed ? 0 : 1;
        return true;
      });
    } catch (const Failure& failure) {
      facts.away = WhyOf(failure.what(), kLookAtItsLog);
    }
    return facts;
  }

 private:
  bool Count(const std::string& topic, int32_t* partitions, Why& away) {
    const Status status = admin_.CountPartitions(topic, partitions);
    if (!status.done()) silent_ = ExplanationOf(status, settings_).silent;
    return Keep(status, away);
  }

  bool Keep(const Status& status, Why& away) const {
    if (!status.done()) away = WhyOf(status, settings_);
    return status.done();
  }

  void AskMembers(const Log& log, LogFacts& facts) {
    const auto owners = OwnersOf(log.group, log.topic);
    if (!owners) return;
    std::set<std::pair<std::string, std::string>> members;
    for (const auto& [partition, owner] : *owners) members.insert({owner.client, owner.host});
    facts.members = members.size();
  }

  const Settings& settings_;
  const kafka::ClientOptions options_;
  kafka::Admin admin_;
  bool silent_ = false;
};

}  // namespace

Why WhyOf(const Status& status, const Settings& settings) {
  const Explanation told = ExplanationOf(status, settings);
  if (!told.advice.empty()) return {told.what, told.advice};
  return WhyOf(told.what, told.exit_code == kExitConfig ? kSetItRight : kLookAtItsLog);
}

std::optional<mysql::Installation> AskShards(const Settings& settings,
                                             std::vector<ShardFacts>* shards,
                                             SettingFacts* agreed) {
  const mysql::Config config = options::ToConfig(settings.mysql);
  mysql::Installation installation;
  std::vector<Status> statuses;
  mysql::ShardConnections connections(config);
  const bool known = mysql::ReadInstallationAround(connections, &installation, &statuses).done();
  std::optional<uint64_t> closings;
  const Status read = connections.Run(mysql::kSettingsShard, [&](mysql::Connection& connection) {
    closings = mysql::GetBreakerClosings(connection);
    agreed->reconciler = mysql::GetReconcilerMode(connection);
    agreed->mirror = mysql::GetMirrorMode(connection);
  });
  if (!read.done()) agreed->away = WhyOf(read, settings);
  shards->clear();
  for (Shard shard = 0; shard < statuses.size(); ++shard) {
    ShardFacts facts{.address = AddressOf(config.shards[shard])};
    AskShard(connections, shard, settings, statuses[shard], closings, facts);
    shards->push_back(std::move(facts));
  }
  return known ? std::optional(std::move(installation)) : std::nullopt;
}

RedisFacts AskRedis(const Settings& settings,
                    const std::optional<mysql::Installation>& installation) {
  RedisFacts facts;
  for (const std::string& seed : settings.redis.seeds) {
    facts.address += (facts.address.empty() ? "" : ",") + seed;
  }
  const auto options = options::ToOptions(settings.redis, settings.timelines,
                                          installation.value_or(mysql::Installation()));
  redis::ServerCheck check;
  Status status = redis::CheckServer(options, &check);
  facts.refusals = check.refusals;
  facts.warnings = check.warnings;
  facts.full = check.full;
  facts.nearly_full = check.nearly_full;
  facts.memory = check.memory;
  // Without an installation the number of ranges is unknown, so only whether Redis answers is
  // checked.
  if (status.done() && installation) status = redis::ReadRangeStates(options, &facts.ranges);
  if (!status.done()) facts.away = WhyOf(status, settings);
  return facts;
}

KafkaFacts AskKafka(const Settings& settings, const Groups& groups,
                    std::chrono::milliseconds since) {
  KafkaAsker asker(settings);
  KafkaFacts facts;
  for (const Log& log : LogsOf(settings.topics, groups)) {
    facts.logs.push_back(asker.silent() ? KafkaAsker::Unasked(log) : asker.Ask(log));
  }
  facts.away = asker.silent();
  if (facts.away) return facts;
  facts.owners = asker.OwnersOf(groups.pusher, settings.topics.tasks);
  for (const LetterTopic& topic : LetterTopics(settings.topics)) {
    facts.letters.push_back(asker.AskLetters(topic, since));
  }
  return facts;
}

}  // namespace fanline::feedctl
