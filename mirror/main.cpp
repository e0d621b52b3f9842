// log1 (MariaDB) and relation events (Kafka) -> relation-log (Kafka) -> reverse rows (MariaDB),
// then hints (Kafka). Wiring only.
#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/installation.h"
#include "backends/mysql/mirror_store.h"
#include "backends/wiring/both_loops.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/shard_health.h"
#include "backends/wiring/start_checks.h"
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

using LogLoop = wiring::ConsumeLoop<mirror::Mirror, MirrorInput>;
using EventLoop = wiring::ConsumeLoop<mirror::RelationEventConsumer, RelationEventInput>;

int Main(int argc, char** argv) {
  mirror::Config config;
  daemon::OptionTable table(
      "fanline-mirror", "brings the reverse rows of relations in line: one member of the fleet");
  mirror::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("mirror", config.daemon);

  // What everybody must agree on: shards, ranges, topics.
  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, "fanline-mirror");
  const auto installation =
      wiring::AwaitInstallation(mysql_config, {.agreed = config.agreed}, process);
  wiring::AwaitTopic(client, installation.tasks_topic, installation.partitions, process);
  wiring::AwaitTopic(client, config.topics.relation_events, 0, process);
  const uint32_t partitions = wiring::AwaitRelationLog(client, process);
  if (process.stop.requested()) return 0;

  daemon::Inbox<MirrorInput> inbox(process.wakeup);
  daemon::Inbox<RelationEventInput> event_inbox(process.wakeup);
  const auto deliver = [&inbox](auto reply) { inbox.Push(MirrorInput(std::move(reply))); };
  const auto deliver_event = [&event_inbox](auto reply) {
    event_inbox.Push(RelationEventInput(std::move(reply)));
  };
  const auto route = [&](auto reply) {  // of ports that both use
    const bool event = mirror::RequestIds::PartOf(reply.id) == mirror::Part::kEvents;
    event ? deliver_event(std::move(reply)) : deliver(std::move(reply));
  };
  mysql::MysqlMirrorStore store(
      mysql_config, installation.shard_map,
      {.applied = route,
       .changed = route,
       .log =
           [&deliver](ChangeReply reply) {
             std::visit([&deliver](auto& each) { deliver(std::move(each)); }, reply);
           },
       .mode = deliver_event},
      wiring::ShardHealth(process.health), process.log.Sink(),
      {.most_followed = installation.following_limit});
  kafka::Producer producer({.client = client, .hint_topic = installation.tasks_topic}, deliver,
                           route, process.log.Sink(), deliver);
  kafka::Consumer relation_log({.client = client,
                                .group = config.group,
                                .topic = kRelationLogTopic,
                                .wake_fd = process.wakeup.fd()},
                               process.log.Sink());
  kafka::Consumer events({.client = client,
                          .group = config.group + "-events",
                          .topic = config.topics.relation_events,
                          .wake_fd = process.wakeup.fd()},
                         process.log.Sink());

  mirror::PrometheusMetrics metrics(process.registry, process.log);
  const auto& map = installation.shard_map;
  mirror::Mirror mirror({store, store, store, producer, producer, producer, metrics},
                        {installation.layout(), map, partitions, wiring::RandomSeed()},
                        config.limits);
  mirror::RelationEventConsumer event_consumer({store, store, store, producer, metrics},
                                               {map, wiring::RandomSeed()}, config.limits);
  LogLoop log_loop(relation_log, kRelationLogTopic, inbox, mirror, process.registry,
                   process.health);
  EventLoop event_loop(events, config.topics.relation_events, event_inbox, event_consumer,
                       process.registry, process.health);
  wiring::BothLoops loops(log_loop, event_loop);
  return process.Run(loops);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-mirror", [&] { return Main(argc, argv); });
}
