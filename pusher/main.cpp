// fanout-tasks (Kafka) -> Pusher -> live timelines (Redis). Wiring only.
#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/installation.h"
#include "backends/mysql/range_owners.h"
#include "backends/mysql/truth.h"
#include "backends/redis/live_timelines.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/shard_health.h"
#include "backends/wiring/start_checks.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "pusher/config.h"
#include "pusher/prometheus_metrics.h"
#include "pusher/pusher.h"

using namespace fanline;

namespace {

int Main(int argc, char** argv) {
  pusher::Config config;
  daemon::OptionTable table("fanline-pusher",
                            "brings posts into live timelines: one member of the fleet");
  pusher::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("pusher", config.daemon);

  // What everybody must agree on: shards, ranges, topic, a Redis that can hold timelines.
  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, "fanline-pusher");
  const auto installation = wiring::AwaitInstallation(
      mysql_config, {.tasks_topic = config.topics.tasks, .agreed = config.agreed}, process);
  auto redis_options = options::ToOptions(config.redis, config.timelines, installation.window);
  redis_options.partitions = installation.partitions;
  wiring::AwaitTopic(client, installation.tasks_topic, installation.partitions, process);
  wiring::AwaitRedis(redis_options, process);
  if (process.stop.requested()) return 0;

  daemon::Inbox<pusher::Input> inbox(process.wakeup);
  const auto deliver = [&inbox](auto reply) { inbox.Push(pusher::Input(std::move(reply))); };
  const auto shard_health = wiring::ShardHealth(process.health);
  const auto layout = installation.layout();
  const auto& map = installation.shard_map;
  mysql::MysqlTruth truth(mysql_config, map, layout, deliver, shard_health, process.log.Sink(),
                          {.threads_per_shard = config.truth_threads});
  mysql::MysqlRangeOwners owners(mysql_config, map, layout, deliver, nullptr, process.log.Sink());
  redis::RedisLiveTimelines timelines(
      redis_options,
      [&deliver](std::vector<TimelineReply> replies) {
        for (auto& reply : replies) deliver(std::move(reply));
      },
      process.log.Sink(),
      [&process](bool up, const std::string& reason) {
        process.health.SetReady("redis", up, reason);
      });
  kafka::Producer dead_letters({.client = client}, nullptr, deliver, process.log.Sink());
  kafka::Consumer hints({.client = client,
                         .group = config.group,
                         .topic = installation.tasks_topic,
                         .wake_fd = process.wakeup.fd()},
                        process.log.Sink());

  config.limits.window = installation.window;
  pusher::PrometheusMetrics metrics(process.registry, process.log, process.health);
  pusher::Pusher pusher({truth, timelines, owners, dead_letters, metrics},
                        {layout, installation.generation, wiring::RandomSeed()}, config.limits);
  wiring::ConsumeLoop<pusher::Pusher, pusher::Input> loop(hints, installation.tasks_topic, inbox,
                                                          pusher, process.registry, process.health);
  return process.Run(loop);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-pusher", [&] { return Main(argc, argv); });
}
