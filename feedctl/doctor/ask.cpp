#include "feedctl/doctor/ask.h"

#include <set>

#include "backends/kafka/admin.h"
#include "backends/mysql/binlog/binlog_end.h"
#include "backends/mysql/edges/log_scan.h"
#include "backends/mysql/installation/settings.h"
#include "backends/mysql/repairs/full_scan.h"
#include "backends/redis/cluster/server_check.h"
#include "fanline/wire/dead_letter.h"
#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"
#include "feedctl/support/explain.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kSetItRight = "set right what it names";
constexpr const char* kLookAtItsLog = "look at that service's own log";

// ---- shards ----

// `row`: whether the shard holds the installation's row. `has_bell`: mirrors are to listen to it.
void AskShard(mysql::ShardConnections& connections, Shard shard, const Settings& settings,
              const Status& row, bool has_bell, ShardFacts& facts) {
  mysql::TablesFound tables;
  const Status status = connections.Run(shard, [&](mysql::Connection& connection) {
    tables = mysql::FindTables(connection);
    facts.server = connection.server_name();
  });
  if (status.never()) facts.unfit = WhyOf(status.message, "");
  if (status.later()) facts.away = WhyOf(status, settings);
  facts.installed = !status.done() || tables.installed;
  for (const mysql::Migration* migration : tables.missing) {
    facts.missing.emplace_back(migration->file);
  }
  facts.newer = tables.newer;
  facts.procedures.assign(tables.procedures.begin(), tables.procedures.end());
  facts.others.assign(tables.others.begin(), tables.others.end());
  facts.refuses_writes = tables.refuses_writes;
  if (!status.done() || !tables.installed) return;
  if (row.never()) {
    facts.wrong = WhyOf(row.message, "");
    return;
  }
  facts.read = row.done();
  // Older tables may lack what was read; feedctl migrate adds it.
  if (!facts.read && facts.missing.empty()) facts.away = WhyOf(row, settings);
  if (!facts.read) return;
  (void)connections.Run(shard, [&](mysql::Connection& connection) {
    const mysql::LogScanPlace place = mysql::ReadLogScanPlace(connection);
    if (place.up_to > 0) facts.unscanned = std::chrono::milliseconds(place.now - place.up_to);
    facts.full_scans = mysql::ReadFullScans(connection);
    if (has_bell) facts.no_bell = WhyOf(mysql::WhyNoBell(connection), "");
  });
}

// ---- Kafka ----

// The logs to ask about. Only their names are filled in.
std::vector<LogFacts> LogsOf(const options::TopicSettings& topics, const Groups& groups) {
  return {{topics.feed, groups.dispatcher, "fanline-dispatcher"},
          {topics.tasks, groups.pusher, "fanline-pusher"},
          {topics.relation_events, groups.mirror + "-events", "fanline-mirror", false},
          {kRelationLogTopic, groups.reconciler, "fanline-reconciler", false},
          {kRelationLogTopic, groups.reconciler + "-later", "fanline-reconciler", false},
          {kRelationRetryTopic, groups.reconciler + "-retry", "fanline-reconciler", false}};
}

class KafkaAsker {
 public:
  explicit KafkaAsker(const Settings& settings)
      : settings_(settings), admin_(options::ToOptions(settings.kafka, kClientId), kKafkaTimeout) {}

  // No broker answers at all. If only some log or group fails, the others may still be asked.
  bool silent() const { return silent_; }

  void Ask(LogFacts& log) {
    log.asked = !silent_;
    if (silent_) return;
    for (const std::string& topic : {log.topic, DeadLetterTopic(log.topic)}) {
      int32_t partitions = 0;
      const Status status = admin_.CountPartitions(topic, &partitions);
      if (!status.done()) {
        silent_ = ExplanationOf(status, settings_).silent;
        log.away = WhyOf(status, settings_);
        return;
      }
      if (partitions == 0) {
        log.missing = topic;
        return;
      }
    }
    const auto owners = OwnersOf(log.group, log.topic);
    if (!owners) return;
    std::set<std::pair<std::string, std::string>> members;
    for (const auto& [partition, owner] : *owners) members.insert({owner.client, owner.host});
    log.members = members.size();
  }

  std::optional<kafka::GroupOwners> OwnersOf(const std::string& group, const std::string& topic) {
    kafka::GroupOwners owners;
    const Status asked = admin_.ReadOwners(group, topic, &owners);
    return asked.done() ? std::optional(std::move(owners)) : std::nullopt;
  }

 private:
  const Settings& settings_;
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
                                             std::vector<ShardFacts>* shards) {
  const mysql::Config config = options::ToConfig(settings.mysql);
  mysql::Installation installation;
  std::vector<Status> statuses;
  mysql::ShardConnections connections(config);
  const bool known = mysql::ReadInstallationAround(connections, &installation, &statuses).done();
  bool has_bells = false;
  (void)connections.Run(mysql::kSettingsShard, [&](mysql::Connection& connection) {
    has_bells = mysql::GetMirrorMode(connection) == MirrorMode::kLog;
  });
  shards->clear();
  for (Shard shard = 0; shard < statuses.size(); ++shard) {
    ShardFacts facts{.address = AddressOf(config.shards[shard])};
    AskShard(connections, shard, settings, statuses[shard], has_bells, facts);
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
  if (!check.server.empty()) facts.address += ", " + check.server;
  // Without an installation the number of ranges is unknown, so only whether Redis answers is
  // checked.
  if (status.done() && installation) status = redis::ReadRangeStates(options, &facts.ranges);
  if (!status.done()) facts.away = WhyOf(status, settings);
  return facts;
}

KafkaFacts AskKafka(const Settings& settings, const Groups& groups) {
  KafkaAsker asker(settings);
  KafkaFacts facts{.logs = LogsOf(settings.topics, groups)};
  for (LogFacts& log : facts.logs) asker.Ask(log);
  facts.away = asker.silent();
  if (!facts.away) facts.owners = asker.OwnersOf(groups.pusher, settings.topics.tasks);
  return facts;
}

}  // namespace fanline::feedctl
