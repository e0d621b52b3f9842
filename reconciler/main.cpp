// relation-log (Kafka) -> pairs -> checks and repairs (shards), hints and retries (Kafka). Wiring
// only.
#include "backends/kafka/consumer.h"
#include "backends/kafka/log_positions.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/edges/tombstones.h"
#include "backends/mysql/posts/repost_sweep.h"
#include "backends/mysql/repairs/counter_store.h"
#include "backends/mysql/repairs/full_scan.h"
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
#include "reconciler/full_scanner.h"
#include "reconciler/later_reconciler.h"
#include "reconciler/log_scanner.h"
#include "reconciler/pair_reconciler.h"
#include "reconciler/prometheus_metrics.h"
#include "reconciler/reposts/repost_sweeper.h"
#include "reconciler/retry_reconciler.h"
#include "reconciler/tombstone_collector.h"

using namespace fanline;
using reconciler::CheckerReply;
using reconciler::ComparerReply;
using reconciler::CounterInput;
using reconciler::CounterReconciler;
using reconciler::FullScanInput;
using reconciler::FullScanner;
using reconciler::LaterInput;
using reconciler::LaterReconciler;
using reconciler::LogScanInput;
using reconciler::LogScanner;
using reconciler::PairReconciler;
using reconciler::PairReconcilerInput;
using reconciler::RepostInput;
using reconciler::RepostSweeper;
using reconciler::RetryInput;
using reconciler::RetryReconciler;
using reconciler::TombstoneCollector;
using reconciler::TombstoneInput;

namespace {

// What all programs must agree on: shards, ranges, topics. Sets the partitions of relation-log.
mysql::Installation AwaitAll(const reconciler::Config& config, const kafka::ClientOptions& client,
                             const std::optional<mysql::AppTables>& app, wiring::Checks& agreed,
                             uint32_t* partitions) {
  auto installation = agreed.AwaitInstallation(options::ToConfig(config.mysql));
  agreed.AwaitTopic(client, installation.tasks_topic, installation.partitions);
  *partitions = agreed.AwaitRelationLog(client);
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

struct Stores {
  Stores(const reconciler::Config& config, const kafka::ClientOptions& client,
         const mysql::Installation& installation, const std::optional<mysql::AppTables>& app,
         daemon::Process& process)
      : changes(options::ToConfig(config.mysql), {}, process.log.Sink(), {},
                {.threads_per_shard = 2}),
        repairs(options::ToConfig(config.mysql), installation.shard_map, process.log.Sink(),
                config.store_threads, app,
                {wiring::ShardHealth(process.health, "forward", "forward"),
                 wiring::ShardHealth(process.health, "reverse", "reverse")}),
        producer({.client = client,
                  .hint_topic = installation.tasks_topic,
                  .feed_topic = installation.feed_topic},
                 process.log.Sink()),
        positions({client, kRelationLogTopic,
                   config.mirror_group.empty() ? config.group : config.mirror_group},
                  process.log.Sink()),
        metrics(process.registry, process.log, config.later.after) {}

  mysql::MysqlChangeStore changes;
  mysql::MysqlRepairStore repairs;
  kafka::Producer producer;
  kafka::KafkaLogPositions positions;  // of the mirror's group
  reconciler::PrometheusMetrics metrics;

  template <class To>
  reconciler::Checker::Ports ChecksTo(const To& to) {
    return {.log = {changes, to},
            .store = {repairs, to},
            .hints = {producer, to},
            .relations = {producer, to},
            .metrics = metrics};
  }
  template <class Input>
  reconciler::EdgeComparer::Ports ComparerTo(daemon::Inbox<Input>& inbox) {
    const auto to = AsPart<ComparerReply>(inbox);
    return {.log = {changes, to},
            .store = {repairs, to},
            .retries = {producer, to},
            .metrics = metrics};
  }
};

// The full scan, if it is on.
class FullScan {
 public:
  FullScan(const reconciler::Config& config, const reconciler::Checker::Setup& checks,
           uint32_t partitions, const std::optional<mysql::AppTables>& app, Stores& stores,
           reconciler::RepairGate& gate, daemon::Process& process)
      : inbox_(process.wakeup) {
    if (config.full_scan.rows_per_second == 0) return;
    store_.emplace(options::ToConfig(config.mysql), process.log.Sink(), app,
                   reconciler::FullScanReplicasOf(config));
    scanner_.emplace(FullScanner::Ports{.comparer = stores.ComparerTo(inbox_),
                                        .scan = {*store_, inbox_},
                                        .metrics = stores.metrics},
                     checks, partitions, config.comparing, config.full_scan, gate);
    loop_.emplace(inbox_, *scanner_);
  }

  void Own(const std::vector<int32_t>& partitions) {
    if (scanner_) scanner_->Own(partitions);
  }
  daemon::StepResult Step(const Now& now) {
    return loop_ ? loop_->Step(now) : daemon::StepResult();
  }
  daemon::DrainResult Drain(const Now& now) {
    return loop_ ? loop_->Drain(now) : daemon::DrainResult{.done = true};
  }

 private:
  daemon::Inbox<FullScanInput> inbox_;
  std::optional<mysql::MysqlFullScan> store_;
  std::optional<FullScanner> scanner_;
  std::optional<wiring::InboxLoop<FullScanner, FullScanInput>> loop_;
};

// Reposts of posts that were deleted are deleted.
class Reposts {
 public:
  // `inbox` outlives the stores.
  Reposts(const reconciler::Config& config, const ShardMap& map, uint32_t partitions,
          Stores& stores, const reconciler::RepairGate& gate, daemon::Inbox<RepostInput>& inbox,
          daemon::Process& process)
      : store_(options::ToConfig(config.mysql), {}, process.log.Sink()),
        sweeper_(
            {store_, inbox}, {stores.producer, inbox}, stores.metrics,
            [&gate] { return gate.mode(); }, map, partitions),
        loop_(inbox, sweeper_) {}

  void Own(const std::vector<int32_t>& partitions) { sweeper_.Own(partitions); }
  daemon::StepResult Step(const Now& now) { return loop_.Step(now); }
  daemon::DrainResult Drain(const Now& now) { return loop_.Drain(now); }

 private:
  mysql::MysqlRepostSweep store_;
  RepostSweeper sweeper_;
  wiring::InboxLoop<RepostSweeper, RepostInput> loop_;
};

// The log scan: both logs are looked at once more. log1 only if the tables are ours. Its group says
// which parts of the full scan and of the sweep of reposts are ours, too.
class LogScan {
 public:
  LogScan(const reconciler::Config& config, const reconciler::Checker::Setup& checks,
          uint32_t partitions, const kafka::ConsumerOptions& log, Stores& stores,
          reconciler::RepairGate& gate, FullScan& full_scan, Reposts& reposts,
          daemon::Process& process)
      : later_inbox_(process.wakeup),
        scan_inbox_(process.wakeup),
        log_(log, process.log.Sink()),
        later_({.comparer = stores.ComparerTo(later_inbox_),
                .positions = {stores.positions, later_inbox_},
                .metrics = stores.metrics},
               {.checker = checks, .mirror_group = !config.mirror_group.empty()}, config.comparing,
               config.later, gate),
        scanner_({.comparer = stores.ComparerTo(scan_inbox_),
                  .log = {stores.changes, scan_inbox_},
                  .repairs = {stores.repairs, scan_inbox_},
                  .metrics = stores.metrics},
                 checks, partitions, config.comparing, {.after = config.later.after}, gate),
        later_loop_(
            log_, "relation-log.later", later_inbox_, later_, process, Duration::zero(),
            [this, &full_scan, &reposts, ours = checks.ours](const std::vector<int32_t>& owned) {
              if (ours) scanner_.Own(owned);
              full_scan.Own(owned);
              reposts.Own(owned);
            }),
        scan_loop_(scan_inbox_, scanner_),
        loops_(later_loop_, scan_loop_) {}

  daemon::StepResult Step(const Now& now) { return loops_.Step(now); }
  daemon::DrainResult Drain(const Now& now) { return loops_.Drain(now); }

 private:
  daemon::Inbox<LaterInput> later_inbox_;
  daemon::Inbox<LogScanInput> scan_inbox_;
  kafka::Consumer log_;
  LaterReconciler later_;
  LogScanner scanner_;
  wiring::ConsumeLoop<LaterReconciler, LaterInput> later_loop_;
  wiring::InboxLoop<LogScanner, LogScanInput> scan_loop_;
  wiring::Loops<wiring::ConsumeLoop<LaterReconciler, LaterInput>,
                wiring::InboxLoop<LogScanner, LogScanInput>>
      loops_;
};

// Old tombstones are collected. An application keeps its own.
class Tombstones {
 public:
  Tombstones(const reconciler::Config& config, const ShardMap& map, reconciler::Metrics& metrics,
             const reconciler::RepairGate& gate, daemon::Process& process)
      : inbox_(process.wakeup),
        store_(options::ToConfig(config.mysql), {}, process.log.Sink()),
        collector_({store_, inbox_}, metrics, gate, map, config.tombstones),
        loop_(inbox_, collector_) {
    if (reconciler::AppTablesOf(config)) collector_.StopTaking();
  }

  daemon::StepResult Step(const Now& now) { return loop_.Step(now); }
  daemon::DrainResult Drain(const Now& now) { return loop_.Drain(now); }

 private:
  daemon::Inbox<TombstoneInput> inbox_;
  mysql::MysqlTombstoneStore store_;
  TombstoneCollector collector_;
  wiring::InboxLoop<TombstoneCollector, TombstoneInput> loop_;
};

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
  uint32_t partitions = 0;
  const auto installation = AwaitAll(config, client, app, agreed, &partitions);
  if (process.stop.requested()) return 0;

  daemon::Inbox<PairReconcilerInput> inbox(process.wakeup);
  daemon::Inbox<RetryInput> retry_inbox(process.wakeup);
  daemon::Inbox<CounterInput> counter_inbox(process.wakeup);
  daemon::Inbox<RepostInput> repost_inbox(process.wakeup);
  const auto log = process.log.Sink();
  const auto& map = installation.shard_map;
  const bool lags = !config.mirror_group.empty();
  Stores stores(config, client, installation, app, process);
  mysql::MysqlCounterStore counter_store(mysql_config, wiring::ShardHealth(process.health), log,
                                         {map});
  const auto consumer = [&](const std::string& named, const char* topic) {
    return kafka::ConsumerOptions{
        .client = client, .group = named, .topic = topic, .wake_fd = process.wakeup.fd()};
  };
  kafka::Consumer relation_log(consumer(config.group, kRelationLogTopic), log);
  kafka::Consumer retry_log(consumer(config.group + "-retry", kRelationRetryTopic), log);
  config.gate.second_check_after = config.comparing.grace = config.limits.grace;
  config.comparing.patience = config.retries.patience;
  const auto checks = ChecksOf(installation, app);
  reconciler::RepairGate gate(config.gate, static_cast<Shard>(checks.shards.reverse.shards()));
  PairReconciler pairs(
      {.checker = stores.ChecksTo(AsPart<CheckerReply>(inbox)),
       .mode = {stores.changes, inbox},
       .retries = {stores.producer, inbox},
       .positions = {stores.positions, inbox},
       .metrics = stores.metrics},
      {.checker = checks, .mirror_group = lags, .patience = config.retries.patience}, config.limits,
      gate);
  RetryReconciler retries({.checker = stores.ChecksTo(AsPart<CheckerReply>(retry_inbox)),
                           .retries = {stores.producer, retry_inbox},
                           .dead_letters = {stores.producer, retry_inbox},
                           .metrics = stores.metrics},
                          checks, config.retries, gate);
  CounterReconciler counters({counter_store, counter_inbox}, stores.metrics, gate,
                             static_cast<Shard>(map.shards()), config.counters);
  Tombstones tombstones(config, map, stores.metrics, gate, process);
  FullScan full_scan(config, checks, partitions, app, stores, gate, process);
  Reposts reposts(config, map, partitions, stores, gate, repost_inbox, process);
  LogScan log_scan(config, checks, partitions, consumer(config.group + "-later", kRelationLogTopic),
                   stores, gate, full_scan, reposts, process);
  wiring::ConsumeLoop pair_loop(relation_log, kRelationLogTopic, inbox, pairs, process);
  wiring::ConsumeLoop retry_loop(retry_log, kRelationRetryTopic, retry_inbox, retries, process);
  wiring::InboxLoop counter_loop(counter_inbox, counters);
  wiring::Loops loops(pair_loop, retry_loop, log_scan, full_scan, counter_loop, tombstones,
                      reposts);
  return process.Run(loops);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-reconciler", [&] { return Main(argc, argv); });
}
