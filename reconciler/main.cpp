// relation-log (Kafka) -> pairs -> checks and repairs (MariaDB), hints and retries (Kafka). Wiring
// only.
#include "backends/kafka/consumer.h"
#include "backends/kafka/log_positions.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/counter_store.h"
#include "backends/mysql/installation.h"
#include "backends/mysql/repair_store.h"
#include "backends/mysql/shard_probe.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/inbox_loop.h"
#include "backends/wiring/loops.h"
#include "backends/wiring/shard_health.h"
#include "backends/wiring/start_checks.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "reconciler/app_shards.h"
#include "reconciler/config.h"
#include "reconciler/counter_reconciler.h"
#include "reconciler/pair_reconciler.h"
#include "reconciler/prometheus_metrics.h"
#include "reconciler/repair_log_keeper.h"
#include "reconciler/retry_reconciler.h"

using namespace fanline;
using reconciler::CheckerReply;
using reconciler::CounterInput;
using reconciler::CounterReconciler;
using reconciler::PairReconciler;
using reconciler::PairReconcilerInput;
using reconciler::RetryInput;
using reconciler::RetryReconciler;

namespace {

using PairLoop = wiring::ConsumeLoop<PairReconciler, PairReconcilerInput>;
using RetryLoop = wiring::ConsumeLoop<RetryReconciler, RetryInput>;

int Main(int argc, char** argv) {
  reconciler::Config config;
  daemon::OptionTable table("fanline-reconciler",
                            "finds relations whose two rows differ and sets them right");
  reconciler::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("reconciler", config.daemon);

  // What everybody must agree on: shards, ranges, topics.
  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, "fanline-reconciler");
  const auto installation = wiring::AwaitInstallation(mysql_config, {}, process);
  wiring::AwaitTopic(client, installation.tasks_topic, installation.partitions, process);
  wiring::AwaitRelationLog(client, process);
  wiring::AwaitTopic(client, kRelationRetryTopic, 0, process);
  const auto app = reconciler::AppTablesOf(config);
  if (app) wiring::AwaitAppTables(*app, process);
  if (process.stop.requested()) return 0;

  daemon::Inbox<PairReconcilerInput> inbox(process.wakeup);
  daemon::Inbox<RetryInput> retry_inbox(process.wakeup);
  daemon::Inbox<RepairsPurged> purges(process.wakeup);
  daemon::Inbox<CounterInput> counter_inbox(process.wakeup);
  daemon::Inbox<ShardPinged> pings(process.wakeup);
  const auto log = process.log.Sink();
  const auto& map = installation.shard_map;
  mysql::MysqlRepairStore store(mysql_config, map, config.store_threads, app);
  mysql::MysqlCounterStore counter_store(mysql_config, wiring::ShardHealth(process.health), log,
                                         {map});
  // Fanline's own shards are asked by the counter reconciler.
  auto app_config = app ? app->forward.config : mysql_config;
  if (!app) app_config.shards.clear();
  const auto forward_shards = static_cast<Shard>(app_config.shards.size());
  if (app) {
    const auto& reverse = app->reverse.config.shards;
    app_config.shards.insert(app_config.shards.end(), reverse.begin(), reverse.end());
  }
  const auto app_health = [&, forward_shards](Shard shard, bool reachable) {
    const std::string name = shard < forward_shards
                                 ? "forward_" + std::to_string(shard)
                                 : "reverse_" + std::to_string(shard - forward_shards);
    process.health.SetReady(name, reachable, reachable ? "" : "not reachable");
  };
  mysql::MysqlShardProbe app_probe(app_config, app_health, log);
  kafka::Producer producer({.client = client, .hint_topic = installation.tasks_topic}, log);
  kafka::KafkaLogPositions positions({.client = client,
                                      .topic = kRelationLogTopic,
                                      .group = config.mirror_group.value_or(config.group)},
                                     log);
  kafka::Consumer relation_log({.client = client,
                                .group = config.group,
                                .topic = kRelationLogTopic,
                                .wake_fd = process.wakeup.fd()},
                               log);
  kafka::Consumer retry_log({.client = client,
                             .group = config.group + "-retry",
                             .topic = kRelationRetryTopic,
                             .wake_fd = process.wakeup.fd()},
                            log);

  reconciler::PrometheusMetrics metrics(process.registry, process.log);
  config.gate.second_check_after = config.limits.grace;
  const auto shards_of = [](const mysql::EdgeTable& edges) {
    return ShardMap::Even(static_cast<uint32_t>(edges.config.shards.size()));
  };
  reconciler::Checker::Setup checks;
  checks.layout = installation.layout();
  checks.reverse = app ? shards_of(app->reverse) : map;
  checks.forward = app ? shards_of(app->forward) : map;
  checks.hints = !app;  // no timeline is filled from these
  checks.seed = wiring::RandomSeed();
  reconciler::RepairGate gate(config.gate, static_cast<Shard>(checks.reverse.shards()));
  const auto checker_ports = [&](const auto& to_checker) {
    return reconciler::Checker::Ports{.store = {store, to_checker},
                                      .hints = {producer, to_checker},
                                      .relations = {producer, to_checker},
                                      .metrics = metrics};
  };
  PairReconciler pairs({.checker = checker_ports(AsPart<CheckerReply>(inbox)),
                        .mode = {store, inbox},
                        .retries = {producer, inbox},
                        .positions = {positions, inbox},
                        .metrics = metrics},
                       {.checker = checks,
                        .mirror = config.mirror_group.has_value(),
                        .patience = config.retries.patience},
                       config.limits, gate);
  RetryReconciler retries({.checker = checker_ports(AsPart<CheckerReply>(retry_inbox)),
                           .retries = {producer, retry_inbox},
                           .dead_letters = {producer, retry_inbox},
                           .metrics = metrics},
                          checks, config.retries, gate);
  CounterReconciler counters({counter_store, counter_inbox}, metrics, gate,
                             static_cast<Shard>(map.shards()), config.counters);
  reconciler::AppShards app_shards({app_probe, pings},
                                   static_cast<Shard>(app_config.shards.size()));
  reconciler::RepairLogKeeper keeper({store, purges}, metrics, static_cast<Shard>(map.shards()),
                                     config.repair_log);
  PairLoop pair_loop(relation_log, kRelationLogTopic, inbox, pairs, process.registry,
                     process.health);
  RetryLoop retry_loop(retry_log, kRelationRetryTopic, retry_inbox, retries, process.registry,
                       process.health);
  wiring::InboxLoop<CounterReconciler, CounterInput> counter_loop(counter_inbox, counters);
  wiring::InboxLoop<reconciler::AppShards, ShardPinged> app_loop(pings, app_shards);
  wiring::InboxLoop<reconciler::RepairLogKeeper, RepairsPurged> keeper_loop(purges, keeper);
  wiring::Loops loops(pair_loop, retry_loop, counter_loop, app_loop, keeper_loop);
  return process.Run(loops);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-reconciler", [&] { return Main(argc, argv); });
}
