#include "backends/wiring/start_checks.h"

#include <cstdlib>
#include <functional>
#include <random>

#include "backends/kafka/admin.h"
#include "backends/options/kafka_settings.h"
#include "backends/redis/cluster/server_check.h"
#include "backends/redis/installation_mark.h"
#include "daemon/clock.h"
#include "daemon/options/options.h"
#include "fanline/wire/relation_log.h"

namespace fanline::wiring {
namespace {

constexpr Duration kRetryEvery = std::chrono::seconds(1);
constexpr Duration kWarnEvery = std::chrono::seconds(10);
constexpr Duration kKafkaTimeout = std::chrono::seconds(5);

[[noreturn]] void Refuse(const daemon::Log& log, const std::string& message) {
  log.Error("refusing to start", {{"reason", message}});
  std::exit(daemon::kExitConfig);
}

// Tries until it is done; false: a stop was requested.
bool Await(const std::string& what, daemon::Process& process, const std::function<Status()>& ask) {
  while (!process.stop.requested()) {
    const Status status = ask();
    if (status.done()) {
      process.health.SetReady(what, true);
      return true;
    }
    if (status.never()) Refuse(process.log, status.message);
    process.health.SetReady(what, false, status.message);
    process.log.WarnEvery(what, kWarnEvery, daemon::SystemNow().mono, "waiting for a service",
                          {{"service", what}, {"reason", status.message}});
    process.wakeup.Wait(kRetryEvery);
  }
  return false;
}

}  // namespace

mysql::Installation AwaitInstallation(const mysql::Config& config, const Told& told,
                                      daemon::Process& process) {
  mysql::Installation installation;
  const bool known = Await("installation", process,
                           [&] { return mysql::ReadInstallation(config, &installation); });
  if (!known) return installation;
  options::TopicSettings topics;
  topics.feed = told.feed_topic.value_or(installation.feed_topic);
  topics.tasks = told.tasks_topic.value_or(installation.tasks_topic);
  for (const std::string& wrong : {options::TopicMismatch(topics, installation),
                                   options::Mismatch(told.agreed, installation)}) {
    if (!wrong.empty()) Refuse(process.log, wrong);
  }
  return installation;
}

void AwaitAppTables(const mysql::AppTables& tables, daemon::Process& process) {
  mysql::AppEdges edges(tables);
  Await("the application's tables", process, [&] { return edges.CheckTables(); });
}

void AwaitTopic(const kafka::ClientOptions& client, const std::string& topic, uint32_t partitions,
                daemon::Process& process) {
  kafka::Admin admin(client, kKafkaTimeout, process.log.Sink());
  Await("topic " + topic, process, [&] {
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
  });
}

uint32_t AwaitRelationLog(const kafka::ClientOptions& client, daemon::Process& process) {
  const std::string topic = kRelationLogTopic;
  AwaitTopic(client, topic, 0, process);
  kafka::Admin admin(client, kKafkaTimeout, process.log.Sink());
  int32_t partitions = 0;
  const bool known = Await("topic " + topic, process, [&] {
    if (Status status = admin.CountPartitions(topic, &partitions); !status.done()) return status;
    std::string stamped;
    Status status = admin.ReadConfig(topic, kafka::kTimestampType, &stamped);
    if (!status.done() || stamped == kafka::kLogAppendTime) return status;
    return Status::Never("topic " + topic + " has " + kafka::kTimestampType + "=" + stamped +
                         "; set it to " + kafka::kLogAppendTime +
                         ", as feedctl topics create does");
  });
  return known ? static_cast<uint32_t>(partitions) : 0;
}

void AwaitRedis(const redis::Options& options, daemon::Process& process) {
  redis::ServerCheck check;
  const bool known = Await("redis", process, [&] {
    check = {};
    const Status status = redis::CheckServer(options, &check);
    if (!status.done()) return status;
    if (!check.refusals.empty()) return Status::Never(check.refusals.front());
    // Where the mark is away others may be served: who claims range 0 asks again.
    const Status whose = redis::CheckMark(options);
    return whose.never() ? whose : Status::Done();
  });
  if (!known) return;
  for (const std::string& warning : check.warnings) {
    process.log.Warn("Redis works, at a price", {{"reason", warning}});
  }
}

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) ^ device();
}

}  // namespace fanline::wiring
