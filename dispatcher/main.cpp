// feed-events (Kafka) -> Dispatcher -> post rows (MariaDB), then hints (Kafka). Wiring only.
#include <prometheus/registry.h>

#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/installation.h"
#include "backends/mysql/post_store.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/start_checks.h"
#include "daemon/admin.h"
#include "daemon/inbox.h"
#include "daemon/main_guard.h"
#include "daemon/run.h"
#include "daemon/signals.h"
#include "dispatcher/config.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/prometheus_metrics.h"

using namespace fanline;

namespace {

int Main(int argc, char** argv) {
  dispatcher::Config config;
  daemon::OptionTable table("fanline-dispatcher",
                            "turns feed events into rows and hints: one member of the fleet");
  dispatcher::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Log log("dispatcher", config.daemon.log);
  daemon::Wakeup wakeup;
  daemon::StopOnSignal stop(wakeup);  // SIGTERM, SIGINT
  daemon::Health health(config.daemon.health);
  prometheus::Registry registry;
  daemon::Admin admin(config.daemon.admin, registry, health, log);  // /metrics /healthz /readyz

  // What everybody must agree on: shards, ranges, topics.
  const wiring::Starting starting{stop, wakeup, health, log};
  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, "fanline-dispatcher");
  const auto installation =
      wiring::AwaitInstallation(mysql_config, config.topics, true, false, starting);
  wiring::AwaitTopic(client, installation.feed_topic, 0, starting);
  wiring::AwaitTopic(client, installation.tasks_topic, installation.partitions, starting);
  if (stop.requested()) return 0;

  daemon::Inbox<dispatcher::Input> inbox(wakeup);
  const auto deliver = [&inbox](auto reply) { inbox.Push(dispatcher::Input(std::move(reply))); };
  mysql::MysqlPostStore posts(
      mysql_config, deliver,
      [&health](Shard shard, bool reachable) {
        health.SetReady(mysql::ResourceOf(shard), reachable, reachable ? "" : "not reachable");
      },
      log.Sink());
  kafka::Producer producer({.client = client, .hint_topic = installation.tasks_topic}, deliver,
                           deliver, log.Sink());
  kafka::Consumer events({.client = client,
                          .group = config.group,
                          .topic = installation.feed_topic,
                          .wake_fd = wakeup.fd()},
                         log.Sink());

  dispatcher::PrometheusMetrics metrics(registry, log);
  dispatcher::Dispatcher dispatcher(
      {posts, producer, producer, metrics},
      {installation.layout(), installation.shard_map, wiring::RandomSeed()}, config.limits);
  wiring::ConsumeLoop<dispatcher::Dispatcher, dispatcher::Input> loop(events, inbox, dispatcher,
                                                                      registry);
  return daemon::Run(config.daemon.run, wakeup, health, log,
                     {.stop_requested = [&] { return stop.requested(); },
                      .step = [&](const Now& now) { return loop.Step(now); },
                      .drain = [&](const Now& now) { return loop.Drain(now); }});
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-dispatcher", [&] { return Main(argc, argv); });
}
