// log1 (MariaDB) and relation events (Kafka) -> relation-log (Kafka) -> reverse rows (MariaDB),
// then hints (Kafka). Wiring only.
#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/installation/installation.h"
#include "backends/wiring/checks.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/loops.h"
#include "backends/wiring/shard_health.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "mirror/config.h"
#include "mirror/mirror.h"
#include "mirror/prometheus_metrics.h"
#include "mirror/relation_event_consumer.h"

using namespace fanline;
using mirror::MirrorInput;
using mirror::RelationEventInput;

namespace {

int Main(int argc, char** argv) {
  mirror::Config config;
  daemon::OptionTable table(
      "fanline-mirror", "brings the reverse rows of relations in line: one member of the fleet");
  mirror::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("mirror", config.daemon);

  // What all programs must agree on: shards, ranges, topics.
  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, "fanline-mirror");
  wiring::Checks checks(process);
  const auto installation = checks.AwaitInstallation(mysql_config);
  checks.AwaitTopic(client, installation.tasks_topic, installation.partitions);
  checks.AwaitTopicAndLetters(client, config.topics.relation_events, 0);
  const uint32_t partitions = checks.AwaitRelationLog(client);
  if (process.stop.requested()) return 0;
  checks.Stand();

  daemon::Inbox<MirrorInput> inbox(process.wakeup);
  daemon::Inbox<RelationEventInput> event_inbox(process.wakeup);
  const auto health = wiring::ShardHealth(process.health);
  const auto log = process.log.Sink();
  const auto& map = installation.shard_map;
  const auto to_applier = AsPart<mirror::ApplierReply>(inbox);
  const auto to_relay = AsPart<mirror::RelayReply>(inbox);
  mysql::MysqlReverseStore reverse(mysql_config, health, log);
  mysql::MysqlForwardStore forward(mysql_config, health, log, {map, installation.following_limit});
  mysql::MysqlChangeStore changes(mysql_config, health, log);
  kafka::Producer producer({.client = client, .hint_topic = installation.tasks_topic}, log);
  kafka::Consumer relation_log({.client = client,
                                .group = config.group,
                                .topic = kRelationLogTopic,
                                .wake_fd = process.wakeup.fd()},
                               log);
  kafka::Consumer events({.client = client,
                          .group = config.group + "-events",
                          .topic = config.topics.relation_events,
                          .wake_fd = process.wakeup.fd()},
                         log);

  const auto metrics = mirror::PrometheusMetrics(process.registry, process.log);
  mirror::Mirror mirror({.applier = {.reverse = {reverse, to_applier},
                                     .hints = {producer, to_applier},
                                     .relations = {producer, to_applier},
                                     .log = {changes, to_applier},
                                     .dead_letters = {producer, to_applier},
                                     .metrics = *metrics},
                         .relay = {.log = {changes, to_relay},
                                   .relations = {producer, to_relay},
                                   .forward = {forward, to_relay},
                                   .dead_letters = {producer, to_relay},
                                   .metrics = *metrics}},
                        {installation.layout(), map, partitions, wiring::RandomSeed()},
                        config.limits);
  mirror::RelationEventConsumer event_consumer({.forward = {forward, event_inbox},
                                                .reverse = {reverse, event_inbox},
                                                .modes = {changes, event_inbox},
                                                .dead_letters = {producer, event_inbox},
                                                .metrics = *metrics},
                                               {map, wiring::RandomSeed()}, config.limits);
  wiring::ConsumeLoop log_loop(relation_log, kRelationLogTopic, inbox, mirror, process,
                               config.gather);
  wiring::ConsumeLoop event_loop(events, config.topics.relation_events, event_inbox, event_consumer,
                                 process, config.gather);
  wiring::Loops loops(log_loop, event_loop);
  return process.Run(loops);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-mirror", [&] { return Main(argc, argv); });
}
