// feed-events (Kafka) -> Dispatcher -> post rows (shards), then hints (Kafka). Wiring only.
#include <string>

#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/posts/post_store.h"
#include "backends/wiring/checks.h"
#include "backends/wiring/consume_loop.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "dispatcher/config.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/prometheus_metrics.h"
#include "fanline/base/check.h"

using namespace fanline;

namespace {

void WarnOfTooFine(const dispatcher::ModeRule& rule, uint32_t ranges, daemon::Log& log) {
  if (!rule.TooFine(ranges)) return;
  log.Warn(
      "--pull-above is low for so many ranges: live followers are estimated from one of them, and "
      "authors may be switched to and fro",
      {{"pull_above", std::to_string(rule.pull_above)},
       {"ranges", std::to_string(ranges)},
       {"at_least", std::to_string(dispatcher::ModeRule::LeastTelling(ranges))}});
}

int Main(int argc, char** argv) {
  dispatcher::Config config;
  daemon::OptionTable table("fanline-dispatcher",
                            "turns feed events into rows and hints: one member of the fleet");
  dispatcher::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("dispatcher", config.daemon);

  // What all programs must agree on: shards, ranges, topics.
  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, "fanline-dispatcher");
  wiring::Checks checks(process);
  const auto installation = checks.AwaitInstallation(mysql_config);
  checks.AwaitTopicAndLetters(client, installation.feed_topic, 0);
  checks.AwaitTopic(client, installation.tasks_topic, installation.partitions);
  if (process.stop.requested()) return 0;
  checks.Stand();
  WarnOfTooFine(config.limits.modes, installation.partitions, process.log);

  daemon::Inbox<dispatcher::Input> inbox(process.wakeup);
  mysql::MysqlPostStore posts(mysql_config, wiring::ShardHealth(process.health),
                              process.log.Sink());
  const kafka::ProducerOptions producing{.client = client, .hint_topic = installation.tasks_topic};
  FANLINE_CHECK(config.limits.hints_under_way < producing.queued_records &&
                    config.limits.hint_bytes_under_way < producing.queued_kbytes * 1024,
                "hints are to find room in the producer's queue");
  kafka::Producer producer(producing, process.log.Sink());
  kafka::Consumer events({.client = client,
                          .group = config.group,
                          .topic = installation.feed_topic,
                          .wake_fd = process.wakeup.fd()},
                         process.log.Sink());

  dispatcher::PrometheusMetrics metrics(process.registry, process.log);
  dispatcher::Dispatcher dispatcher(
      {.posts = {posts, inbox},
       .hints = {producer, inbox},
       .dead_letters = {producer, inbox},
       .metrics = metrics},
      {installation.layout(), installation.shard_map, wiring::RandomSeed(), installation.own_posts},
      config.limits);
  wiring::ConsumeLoop loop(events, installation.feed_topic, inbox, dispatcher, process,
                           config.limits.gather);
  return process.Run(loop);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-dispatcher", [&] { return Main(argc, argv); });
}
