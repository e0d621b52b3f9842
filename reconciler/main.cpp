// relation-log (Kafka) -> pairs -> checks and repairs (shards), hints and retries (Kafka). Wiring
// only.
#include "backends/kafka/consumer.h"
#include "backends/kafka/log_positions.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/repairs/counter_store.h"
#include "backends/mysql/repairs/repair_store.h"
#include "backends/wiring/checks.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/inbox_loop.h"
#include "backends/wiring/loops.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "reconciler/config.h"
#include "reconciler/counter_reconciler.h"
#include "reconciler/pair_reconciler.h"
#include "reconciler/prometheus_metrics.h"
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

// What all programs must agree on: shards, ranges, topics.
mysql::Installation AwaitAll(const reconciler::Config& config, const kafka::ClientOptions& client,
                             const std::optional<mysql::AppTables>& app, wiring::Checks& agreed) {
  auto installation = agreed.AwaitInstallation(options::ToConfig(config.mysql));
  agreed.AwaitTopic(client, installation.tasks_topic, installation.partitions);
  agreed.AwaitRelationLog(client);
  agreed.AwaitTopicAndLetters(client, kRelationRetryTopic, 0);
  if (app) agreed.AwaitAppTables(*app);
  agreed.Stand();
  return installation;
}

reconciler::Checker::Setup ChecksOf(const mysql::Installation& installation,
                                    const std::optional<mysql::AppTables>& app) {
  return {.layout = installation.layout(),
          .shards = {app ? mysql::ShardsOf(app->reverse) : installation.shard_map,
                     app ? mysql::ShardsOf(app->forward) : installation.shard_map},
          .ours = !app,
          .seed = wiring::RandomSeed()};
}

int Main(int argc, char** argv) {
  reconciler::Config config;
  daemon::OptionTable table("fanline-reconciler",
                            "finds relations whose two rows differ and sets them right");
  reconciler::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("reconciler", config.daemon);

  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, "fanline-reconciler");
  const auto app = reconciler::AppTablesOf(config);
  wiring::Checks agreed(process);
  const auto installation = AwaitAll(config, client, app, agreed);
  if (process.stop.requested()) return 0;

  daemon::Inbox<PairReconcilerInput> inbox(process.wakeup);
  daemon::Inbox<RetryInput> retry_inbox(process.wakeup);
  daemon::Inbox<CounterInput> counter_inbox(process.wakeup);
  const auto log = process.log.Sink();
  const auto& map = installation.shard_map;
  mysql::MysqlChangeStore changes(mysql_config, {}, log, {}, {.threads_per_shard = 2});
  mysql::MysqlRepairStore store(mysql_config, map, log, config.store_threads, app,
                                {wiring::ShardHealth(process.health, "forward", "forward"),
                                 wiring::ShardHealth(process.health, "reverse", "reverse")});
  mysql::MysqlCounterStore counter_store(mysql_config, wiring::ShardHealth(process.health), log,
                                         {map});
  kafka::Producer producer({.client = client, .hint_topic = installation.tasks_topic}, log);
  const bool lags = !config.mirror_group.empty();
  const std::string& group = lags ? config.mirror_group : config.group;
  kafka::KafkaLogPositions positions({client, kRelationLogTopic, group}, log);
  const auto consumer = [&](const std::string& named, const char* topic) {
    return kafka::ConsumerOptions{
        .client = client, .group = named, .topic = topic, .wake_fd = process.wakeup.fd()};
  };
  kafka::Consumer relation_log(consumer(config.group, kRelationLogTopic), log);
  kafka::Consumer retry_log(consumer(config.group + "-retry", kRelationRetryTopic), log);

  reconciler::PrometheusMetrics metrics(process.registry, process.log);
  config.gate.second_check_after = config.limits.grace;
  const auto checks = ChecksOf(installation, app);
  reconciler::RepairGate gate(config.gate, static_cast<Shard>(checks.shards.reverse.shards()));
  const auto ports = [&](const auto& to) -> reconciler::Checker::Ports {
    return {.log = {changes, to},
            .store = {store, to},
            .hints = {producer, to},
            .relations = {producer, to},
            .metrics = metrics};
  };
  PairReconciler pairs(
      {.checker = ports(AsPart<CheckerReply>(inbox)),
       .mode = {changes, inbox},
       .retries = {producer, inbox},
       .positions = {positions, inbox},
       .metrics = metrics},
      {.checker = checks, .mirror_group = lags, .patience = config.retries.patience}, config.limits,
      gate);
  RetryReconciler retries({.checker = ports(AsPart<CheckerReply>(retry_inbox)),
                           .retries = {producer, retry_inbox},
                           .dead_letters = {producer, retry_inbox},
                           .metrics = metrics},
                          checks, config.retries, gate);
  CounterReconciler counters({counter_store, counter_inbox}, metrics, gate,
                             static_cast<Shard>(map.shards()), config.counters);
  wiring::ConsumeLoop pair_loop(relation_log, kRelationLogTopic, inbox, pairs, process);
  wiring::ConsumeLoop retry_loop(retry_log, kRelationRetryTopic, retry_inbox, retries, process);
  wiring::InboxLoop counter_loop(counter_inbox, counters);
  wiring::Loops loops(pair_loop, retry_loop, counter_loop);
  return process.Run(loops);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-reconciler", [&] { return Main(argc, argv); });
}
