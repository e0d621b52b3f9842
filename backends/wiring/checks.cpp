#include "backends/wiring/checks.h"

#include <cstdlib>
#include <limits>
#include <random>

#include "backends/redis/cluster/masters.h"
#include "backends/redis/cluster/server_check.h"
#include "backends/redis/installation_mark.h"
#include "daemon/observe/metrics.h"
#include "daemon/options/options.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/number.h"
#include "fanline/wire/dead_letter.h"
#include "fanline/wire/relation_log.h"

namespace fanline::wiring {
namespace {

constexpr Duration kRetryEvery = std::chrono::seconds(1);
constexpr Duration kKafkaTimeout = std::chrono::seconds(5);

[[noreturn]] void Refuse(const daemon::Log& log, const std::string& message) {
  log.Error("refusing to start", {{"reason", message}});
  std::exit(daemon::kExitConfig);
}

Status CheckTopic(kafka::Admin& admin, const std::string& topic, uint32_t partitions) {
  int32_t found = 0;
  const Status status = admin.CountPartitions(topic, &found);
  if (!status.done()) return status;
  if (found == 0) {
    return Status::Later("kafka", "there is no topic " + topic + ": run feedctl topics create");
  }
  if (partitions != 0 && found != static_cast<int32_t>(partitions)) {
    return Status::Never(
        "topic " + topic + " has " + std::to_string(found) +
        " partitions, but the installation says " + std::to_string(partitions) +
        " ranges: stop all programs, delete the topic, run feedctl topics create and start "
        "them again. Live timelines are rebuilt");
  }
  return Status::Done();
}

Status CheckStamps(kafka::Admin& admin, const std::string& topic) {
  std::string stamped;
  Status status = admin.ReadConfig(topic, kafka::kTimestampType, &stamped);
  if (!status.done() || stamped == kafka::kLogAppendTime) return status;
  return Status::Never("topic " + topic + " has " + kafka::kTimestampType + "=" + stamped +
                       "; set it to " + kafka::kLogAppendTime + ", as feedctl topics create does");
}

Status CheckPartitions(kafka::Admin& admin, const std::string& topic, int32_t at_start) {
  int32_t found = 0;
  const Status status = admin.CountPartitions(topic, &found);
  if (!status.done() || found == 0 || found == at_start) return status;
  return Status::Never("topic " + topic + " has " + std::to_string(found) + " partitions, " +
                       std::to_string(at_start) +
                       " when this program started: start it again, with all mirrors");
}

// A Redis that is away says nothing about its owner. The pusher that claims range 0 asks again.
Status UnlessNever(Status whose) { return whose.never() ? whose : Status::Done(); }

}  // namespace

bool Checks::Await(const std::string& what, const Ask& ask) {
  while (!process_.stop.requested()) {
    const Status status = ask();
    if (status.done()) {
      process_.health.SetReady(what, true);
      return true;
    }
    if (status.never()) Refuse(process_.log, status.message);
    ShowWaiting(process_, what, status);
    process_.supervisor.Waits();
    process_.wakeup.Wait(kRetryEvery);
  }
  return false;
}

kafka::Admin& Checks::AdminOf(const kafka::ClientOptions& client) {
  if (!admin_) admin_.emplace(client, kKafkaTimeout, process_.log.Sink());
  return *admin_;
}

mysql::Installation Checks::AwaitInstallation(const mysql::Config& config) {
  mysql::Installation installation;
  const bool known = Await("installation", [&] {
    Status status = mysql::ReadInstallation(config, &installation);
    if (status.later()) status.message = config.PlaceOf(status.resource) + ": " + status.message;
    return status;
  });
  if (!known) return installation;
  auto connections = std::make_shared<mysql::ShardConnections>(config);
  standing_.Add("installation", [connections, installation] {
    return mysql::CheckUnchanged(*connections, installation);
  });
  return installation;
}

void Checks::AwaitAppTables(const mysql::AppTables& tables) {
  Await("the application's tables", [&] { return mysql::CheckAppTables(tables); });
}

void Checks::AwaitTopic(const kafka::ClientOptions& client, const std::string& topic,
                        uint32_t partitions) {
  AwaitAndStand("topic " + topic, [&admin = AdminOf(client), topic, partitions] {
    return CheckTopic(admin, topic, partitions);
  });
}

void Checks::AwaitTopicAndLetters(const kafka::ClientOptions& client, const std::string& topic,
                                  uint32_t partitions) {
  AwaitAndStand("topic " + topic, [this, &admin = AdminOf(client), topic, partitions] {
    const Status status = CheckTopic(admin, topic, partitions);
    // Only the metric needs this. Brokers that do not report their settings are no reason to wait.
    std::string retention;
    if (status.done() && admin.ReadConfig(topic, "retention.ms", &retention).done()) {
      ShowRetention(process_.registry, topic, retention);
    }
    return status;
  });
  AwaitTopic(client, DeadLetterTopic(topic), 0);
}

void Checks::AwaitAndStand(const std::string& what, const Ask& ask) {
  Await(what, ask);
  standing_.Add(what, ask);
}

uint32_t Checks::AwaitPartitions(const kafka::ClientOptions& client, const std::string& topic) {
  AwaitTopicAndLetters(client, topic, 0);
  kafka::Admin& admin = AdminOf(client);
  int32_t partitions = 0;
  const bool known =
      Await("partitions of " + topic, [&] { return admin.CountPartitions(topic, &partitions); });
  if (!known) return 0;
  standing_.Add("partitions of " + topic,
                [&admin, topic, partitions] { return CheckPartitions(admin, topic, partitions); });
  return static_cast<uint32_t>(partitions);
}

uint32_t Checks::AwaitRelationLog(const kafka::ClientOptions& client) {
  const std::string topic = kRelationLogTopic;
  const uint32_t partitions = AwaitPartitions(client, topic);
  kafka::Admin& admin = AdminOf(client);
  Await("stamps of " + topic, [&admin, topic] { return CheckStamps(admin, topic); });
  return partitions;
}

// Also warns if Redis is fit but has drawbacks.
Status Checks::CheckRedis(const redis::Options& options) {
  redis::ServerCheck check;
  if (Status status = redis::CheckServer(options, &check); !status.done()) return status;
  if (!check.refusals.empty()) return Status::Never(check.refusals.front());
  if (Status whose = UnlessNever(redis::CheckMark(options)); !whose.done()) return whose;
  for (const std::string& warning : check.warnings) {
    process_.log.Warn("Redis works, at a price", {{"reason", warning}});
  }
  for (const std::string& full : check.full) {
    process_.log.Warn("Redis takes no timeline", {{"reason", full}});
  }
  return Status::Done();
}

void Checks::AwaitRedis(const redis::Options& options) {
  if (!Await("redis", [&] { return CheckRedis(options); })) return;
  standing_.Add("installation of redis",
                [options, masters = std::make_shared<redis::Masters>(options)] {
                  return UnlessNever(redis::CheckMark(options, *masters));
                });
}

// A page of a live timeline only needs its own node, so some masters are enough.
void Checks::StateReach(redis::Masters& masters) {
  using daemon::Reach;
  const Status asked = masters.Refresh(redis::Masters::Ask::kAll);
  const auto missing = masters.Missing();
  std::string why = asked.message;
  for (const std::string& one : missing) why += (why.empty() ? "" : "; ") + one;
  const bool enough = asked.done() && missing.size() < masters.map().masters().size();
  process_.health.SetReach("redis", kAnyStore,
                           why.empty() ? Reach::kWhole : (enough ? Reach::kEnough : Reach::kAway),
                           why);
}

std::shared_ptr<const AwaitedRedis> Checks::AskRedis(const redis::Options& options) {
  const auto masters = std::make_shared<redis::Masters>(options);
  const auto awaited = std::make_shared<AwaitedRedis>(AwaitedRedis::Questions{
      [this, options] { return CheckRedis(options); },
      [options, masters] { return UnlessNever(redis::CheckMark(options, *masters)); }});
  const Ask ask = [this, awaited, masters] {
    Status status = awaited->Ask();
    awaited->fit()
        ? StateReach(*masters)
        : process_.health.SetReach("redis", kAnyStore, daemon::Reach::kAway, status.message);
    if (!status.later()) return status;
    process_.log.WarnEvery("redis", std::chrono::seconds(10), SystemNow().mono,
                           "goes on without Redis until it answers", {{"reason", status.message}});
    return Status::Done();
  };
  if (const Status status = ask(); status.never()) Refuse(process_.log, status.message);
  standing_.Add("installation of redis", ask);
  return awaited;
}

void ShowRetention(prometheus::Registry& registry, const std::string& topic,
                   const std::string& value) {
  const auto milliseconds = ParseNumber<int64_t>(value);
  if (!milliseconds) return;
  daemon::AddGauge(registry, "fanline_log_retention_seconds",
                   "How long the log keeps its records (retention.ms)", {{"topic", topic}})
      .Set(*milliseconds < 0 ? std::numeric_limits<double>::infinity()
                             : static_cast<double>(*milliseconds) / 1'000);
}

mysql::HealthSink ShardHealth(daemon::Health& health, std::string_view kind, const char* shards) {
  return [&health, kind, shards](Shard shard, const Status& status) {
    health.SetReach(shards + ("_" + std::to_string(shard)), kind,
                    status.done() ? daemon::Reach::kWhole : daemon::Reach::kAway, status.message);
  };
}

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) ^ device();
}

}  // namespace fanline::wiring
