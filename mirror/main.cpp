// Relation events (Kafka) -> forward rows and log1 (shards); log1 -> reverse rows (shards), then
// hints (Kafka), all announced in relation-log (Kafka). Wiring only.
#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/binlog/log_bell.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/wiring/checks.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/inbox_loop.h"
#include "backends/wiring/loops.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "mirror/config.h"
#include "mirror/mirror.h"
#include "mirror/prometheus_metrics.h"
#include "mirror/relation_event_consumer.h"

using namespace fanline;

namespace {

// The mirror sends a shard two transactions at a time, and a third of rows that somebody has
// locked. One transaction for all would make sound rows wait for these locks.
constexpr mysql::PoolLimits kOneByOne{.threads_per_shard = 3};

// What the consumer's loop steps. The group is left once the mirror has drained too.
struct Member {
  mirror::RelationEventConsumer& events;
  mirror::Mirror& edges;

  auto Step(std::span<mirror::RelationEventInput> inputs, Now now) {
    return events.Step(inputs, now);
  }
  void StopTaking() {
    events.StopTaking();
    edges.StopTaking();
  }
  bool drained() const { return events.drained() && edges.drained(); }
};

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
  const uint32_t partitions = checks.AwaitPartitions(client, config.topics.relation_events);
  checks.AwaitRelationLog(client);
  if (process.stop.requested()) return 0;
  checks.Stand();

  daemon::Inbox<mirror::MirrorInput> to_mirror(process.wakeup);
  daemon::Inbox<mirror::RelationEventInput> to_events(process.wakeup);
  const auto health = wiring::ShardHealth(process.health);
  const auto log = process.log.Sink();
  const auto& map = installation.shard_map;
  mysql::MysqlReverseStore reverse(mysql_config, health, log, {}, kOneByOne);
  mysql::MysqlForwardStore forward(mysql_config, health, log, {map, installation.following_limit});
  mysql::MysqlChangeStore changes(mysql_config, health, log);
  mysql::MysqlLogBell bells(mysql_config, log, wiring::RandomSeed());
  kafka::Producer producer({.client = client, .hint_topic = installation.tasks_topic}, log);
  kafka::Consumer events({.client = client,
                          .group = config.group + "-events",
                          .topic = config.topics.relation_events,
                          .wake_fd = process.wakeup.fd()},
                         log);

  mirror::PrometheusMetrics metrics(process.registry, process.log);
  mirror::Mirror mirror({.log = {changes, to_mirror},
                         .modes = {changes, to_mirror},
                         .bells = {bells, to_mirror},
                         .steps = {.relations = {producer, to_mirror},
                                   .reverse = {reverse, to_mirror},
                                   .hints = {producer, to_mirror},
                                   .forward = {forward, to_mirror},
                                   .dead_letters = {producer, to_mirror},
                                   .metrics = metrics}},
                        {.steps = {installation.layout(), map, wiring::RandomSeed()},
                         .partitions = partitions,
                         .gather = config.gather},
                        config.limits);
  mirror::RelationEventConsumer event_consumer({.forward = {forward, to_events},
                                                .dead_letters = {producer, to_events},
                                                .metrics = metrics,
                                                .assigned = to_mirror,
                                                .revoked = to_mirror},
                                               {map, wiring::RandomSeed()}, config.limits);
  Member member{event_consumer, mirror};
  wiring::ConsumeLoop event_loop(events, config.topics.relation_events, to_events, member, process,
                                 config.gather);
  wiring::InboxLoop mirror_loop(to_mirror, mirror);
  wiring::Loops loops(event_loop, mirror_loop);
  return process.Run(loops);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-mirror", [&] { return Main(argc, argv); });
}
