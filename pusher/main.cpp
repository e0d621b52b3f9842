// fanout-tasks (Kafka) -> Pusher -> live timelines (Redis). Wiring only.
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/installation/range_owners.h"
#include "backends/mysql/posts/author_modes.h"
#include "backends/mysql/posts/truth.h"
#include "backends/redis/live_timelines.h"
#include "backends/wiring/checks.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/redis_health.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "pusher/config.h"
#include "pusher/prometheus_metrics.h"
#include "pusher/pusher.h"

using namespace fanline;

namespace {

// "PROGRAM-HOST-PID": the name that an operator finds this process by in Kafka. In Kubernetes the
// host is the pod's name.
std::string ProcessName(const std::string& program) {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return program + "-" + host + "-" + std::to_string(getpid());
}

int Main(int argc, char** argv) {
  pusher::Config config;
  daemon::OptionTable table("fanline-pusher",
                            "brings posts into live timelines: one member of the fleet");
  pusher::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("pusher", config.daemon);

  // All programs must agree on shards, ranges and topic, and need a Redis that can hold timelines.
  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, ProcessName("fanline-pusher"));
  wiring::Checks checks(process);
  const auto installation = checks.AwaitInstallation(mysql_config);
  const auto redis_options = options::ToOptions(config.redis, config.timelines, installation);
  checks.AwaitTopicAndLetters(client, installation.tasks_topic, installation.partitions);
  checks.AwaitRedis(redis_options);
  if (process.stop.requested()) return 0;
  checks.Stand();

  daemon::Inbox<pusher::Input> inbox(process.wakeup);
  const auto log = process.log.Sink();
  const auto layout = installation.layout();
  const auto& map = installation.shard_map;
  mysql::MysqlTruth truth(mysql_config, wiring::ShardHealth(process.health), log, {map, layout},
                          {.threads_per_shard = config.truth_threads, .batch = 512});
  mysql::MysqlRangeOwners owners(mysql_config, nullptr, log, {map, layout});
  mysql::MysqlAuthorWeights weights(mysql_config, nullptr, log);
  auto& left_migrating = daemon::AddGauge(process.registry, "fanline_ranges_left_migrating",
                                          "Ranges whose Redis slot was left between two nodes");
  daemon::AddGauge(process.registry, "fanline_ranges", "Ranges of the installation, of all pushers")
      .Set(installation.partitions);
  wiring::RedisHealth redis_health(process.health);
  redis::RedisLiveTimelines timelines(
      redis_options, log,
      {.on_away = [&](const std::vector<redis::RangesAway>& away) { redis_health.Away(away); },
       .on_left_migrating =
           [&](size_t ranges) { left_migrating.Set(static_cast<double>(ranges)); }});
  kafka::Producer dead_letters({.client = client}, log);
  kafka::Consumer hints({.client = client,
                         .group = config.group,
                         .topic = installation.tasks_topic,
                         .wake_fd = process.wakeup.fd()},
                        log);

  config.limits.window = installation.window;
  pusher::PrometheusMetrics metrics(process.registry, process.log, process.health);
  pusher::Pusher pusher({.truth = {truth, inbox},
                         .timelines = {timelines, inbox},
                         .owners = {owners, inbox},
                         .dead_letters = {dead_letters, inbox},
                         .weights = {weights, inbox},
                         .metrics = metrics},
                        {.layout = layout,
                         .topic_generation = installation.generation,
                         .seed = wiring::RandomSeed(),
                         .shards = map,
                         .own_posts = installation.own_posts},
                        config.limits);
  wiring::ConsumeLoop loop(hints, installation.tasks_topic, inbox, pusher, process,
                           config.limits.gather,
                           [&](std::vector<Range> own) { redis_health.Own(std::move(own)); });
  return process.Run(loop);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-pusher", [&] { return Main(argc, argv); });
}
