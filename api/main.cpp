// HTTP/JSON -> Handler -> Exchanges with the shards (MariaDB), or Pages -> live timelines (Redis),
// the truth (MariaDB) and rebuilds, or Publisher -> feed-events (Kafka). Wiring only.
#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include "api/config.h"
#include "api/handler.h"
#include "api/inline_mirror.h"
#include "api/pages.h"
#include "api/prometheus_metrics.h"
#include "api/publisher.h"
#include "api/rebuilds.h"
#include "api/store_pool.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/posts/post_bodies.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/sql/shard_probe.h"
#include "backends/redis/client/silent_nodes.h"
#include "backends/redis/reader_timelines.h"
#include "backends/wiring/checks.h"
#include "backends/wiring/shard_health.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "fanline/base/misconfigured.h"
#include "http/descriptors.h"
#include "http/server.h"
#include "timeline/tokens.h"

using namespace fanline;

namespace {

template <typename Store, typename Make>
std::vector<std::unique_ptr<Store>> Many(uint32_t count, const Make& make) {
  std::vector<std::unique_ptr<Store>> stores;
  while (stores.size() < count) stores.push_back(make());
  return stores;
}

constexpr Shard kRedis = 0;  // the one "shard" of the pool that asks Redis

// Serves bodies. Once a second a probe asks the application's server, so that no page waits for a
// server that is away.
struct BodyServing {
  BodyServing(const mysql::BodiesConfig& config, const api::Limits& limits,
              daemon::Process& process)
      : pool(Many<PostBodies>(limits.bodies_threads,
                              [&] {
                                return std::make_unique<mysql::MysqlPostBodies>(
                                    config, [this](Shard) { return away.load(); });
                              }),
             1, {.queued = limits.bodies_queue, .longest_wait = limits.longest_bodies_wait}),
        probe(
            config.server,
            [&](Shard, const Status& status) {
              away = !status.done();
              pool.SetReachable(0, status.done());
              status.done()
                  ? process.log.Info("the application's database answers: pages have bodies")
                  : process.log.Warn("the application's database is away: pages have no bodies",
                                     {{"reason", status.message}});
            },
            process.log.Sink()) {}

  // Ends the program if there is no such table. A server that is away does not end it.
  static void RequireTable(const mysql::BodiesConfig& config) {
    const Status status = mysql::MysqlPostBodies(config).CheckTable();
    if (status.never()) throw Misconfigured(status.message);
  }

  std::atomic<bool> away = false;
  api::BodiesPool pool;
  mysql::ShardProbe probe;
};

// Serves pages, with connections of their own, and the rebuilds behind them.
struct PageServing {
  PageServing(const mysql::Config& mysql, const redis::Options& redis,
              const mysql::Installation& installation, const mysql::ShardConnections::Away& away,
              api::BodiesPool* bodies, const api::Limits& limits, api::Metrics& metrics)
      : pulls(Many<ReaderTruth>(limits.pull_threads,
                                [&] {
                                  return std::make_unique<mysql::MysqlReaderTruth>(
                                      mysql, installation.shard_map, away);
                                }),
              installation.shard_map.shards(),
              {.queued = limits.pull_queue, .longest_wait = limits.longest_pull_wait}),
        live(Many<ReaderTimelines>(
                 limits.page_threads,
                 [&] { return std::make_unique<redis::RedisReaderTimelines>(redis); }),
             1, {.queued = limits.pull_queue, .longest_wait = limits.longest_wait}),
        rebuilds(Rebuilders(mysql, redis, installation, away, limits, metrics),
                 {.longest_wait = 2 * limits.longest_pull_wait}, metrics,
                 [] { return daemon::SystemNow().mono; }),
        pages({live, pulls, bodies}, rebuilds, installation.shard_map, metrics, daemon::SystemNow,
              {installation.own_posts, limits.newest_overlap}, away) {}

  // Each rebuilder has ports of its own.
  std::vector<api::Rebuilds::Rebuild> Rebuilders(const mysql::Config& mysql,
                                                 const redis::Options& redis,
                                                 const mysql::Installation& installation,
                                                 const mysql::ShardConnections::Away& away,
                                                 const api::Limits& limits, api::Metrics& metrics) {
    struct Ports {
      mysql::MysqlReaderTruth truth;
      redis::RedisReaderTimelines timelines;
    };
    std::vector<api::Rebuilds::Rebuild> rebuilders;
    while (rebuilders.size() < limits.rebuild_threads) {
      const std::shared_ptr<Ports> ports(
          new Ports{{mysql, installation.shard_map, away}, redis::RedisReaderTimelines(redis)});
      timeline::Reader reader(
          ports->truth, ports->timelines, installation.window, [this] { return tokens.Next(); },
          installation.own_posts);
      rebuilders.push_back(
          [ports, rebuild = api::Rebuilds::By(reader, metrics)](
              UserId user, const api::Rebuilds::Admit& admit) { rebuild(user, admit); });
    }
    return rebuilders;
  }

  timeline::Tokens tokens;
  api::TruthPool pulls;
  api::TimelinePool live;
  api::Rebuilds rebuilds;
  api::Pages pages;
};

// Serves relations. Each shard has workers of its own.
struct RelationServing {
  RelationServing(const mysql::Config& mysql, const mysql::Installation& installation,
                  const api::Limits& limits, mysql::HealthSink health, api::Metrics& metrics,
                  const daemon::Log& log)
      : classes{{{.reserved = limits.threads / 4, .queue = limits.queue},    // changes
                 {.reserved = limits.threads / 4, .queue = limits.queue}}},  // lookups
        reverse(mysql, {}, log.Sink(), {}, {.threads_per_shard = 2, .batch = 8, .queue = 1'024}),
        shards(mysql, std::move(health), log.Sink(),
               {installation.shard_map, installation.following_limit},
               {.threads_per_shard = limits.threads,
                .classes = classes,
                .newest_first_after = limits.longest_wait / 2,
                .probes = true}) {
    const ShardMap& map = installation.shard_map;
    mirror.emplace(api::InlineMirror::Servers{shards, reverse, shards}, map, metrics,
                   [] { return daemon::SystemNow().mono; });
    exchanges.emplace(*mirror, shards, map,
                      api::Exchanges::Rules{installation.following_limit, limits.longest_wait},
                      daemon::SystemNow);
  }

  const std::array<mysql::ClassLimits, 2> classes;  // by api::Work
  std::optional<api::InlineMirror> mirror;          // with the exchanges: the stores reply to them
  std::optional<api::Exchanges> exchanges;
  mysql::MysqlReverseStore reverse;
  mysql::MysqlRelations shards;
};

// Publishes posts. Kafka may be away, now or always.
struct Publishing {
  Publishing(const options::KafkaSettings& kafka, const mysql::Installation& installation,
             const api::Limits& limits, api::Metrics& metrics, const daemon::Log& log)
      : producer(OptionsOf(kafka, installation, limits), log.Sink()) {
    publisher.emplace(producer, limits.publish_queue, metrics, daemon::SystemNow);
  }

  static kafka::ProducerOptions OptionsOf(const options::KafkaSettings& kafka,
                                          const mysql::Installation& installation,
                                          const api::Limits& limits) {
    kafka::ProducerOptions options;
    options.client = options::ToOptions(kafka, "fanline-api");
    // Only feedctl creates a missing topic. Brokers would create it with their own settings.
    options.client.properties.emplace("allow.auto.create.topics", "false");
    options.feed_topic = installation.feed_topic;
    options.delivery_timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(limits.publish_timeout);
    options.queued_records = limits.publish_queue;
    return options;
  }

  std::optional<api::Publisher> publisher;  // the producer's replies come here: it outlives it
  kafka::Producer producer;
};

// The main loop keeps time, and has timelines served from Redis once Redis was found fit. Threads
// of the server and of the stores serve requests.
struct MainLoop {
  daemon::StepResult Step(const Now& now) {
    live.SetReachable(kRedis, redis.fit());
    TellWhatWaits();
    return {.next_timer = KeepTime(now.mono)};
  }

  Time KeepTime(Time now) {
    relations.shards.DropLate();
    return std::min(relations.mirror->Step(now), now + std::chrono::milliseconds(50));
  }

  void TellWhatWaits() const {
    metrics.Waiting(api::Pool::kRelations, relations.shards.waiting());
    metrics.Waiting(api::Pool::kTimelines, live.waiting());
    metrics.Waiting(api::Pool::kTruth, truth.waiting());
    if (bodies) metrics.Waiting(api::Pool::kBodies, bodies->pool.waiting());
  }

  daemon::DrainResult Drain(const Now& now) {
    server.Stop();
    KeepTime(now.mono);
    return {.done = server.stopped(), .next_timer = now.mono + std::chrono::milliseconds(20)};
  }

  // Beyond the limit of the drain the requests under way are answered all the same, and in time.
  void AnswerTheRest() {
    for (server.Stop(); !server.stopped();
         std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
      KeepTime(daemon::SystemNow().mono);
    }
  }

  std::optional<BodyServing>& bodies;
  http::Server& server;
  RelationServing& relations;
  api::TimelinePool& live;
  api::TruthPool& truth;
  const wiring::AwaitedRedis& redis;
  api::Metrics& metrics;
};

// Descriptors of everything but connections: the client libraries, the log and so on.
constexpr size_t kOtherDescriptors = 256;

constexpr size_t kMostRedisMasters = 16;  // as many as the limit of descriptors allows for

size_t DescriptorsFor(const api::Config& config, uint32_t shards) {
  const api::Limits& limits = config.limits;
  const size_t stores = limits.threads + limits.pull_threads + limits.rebuild_threads + 4;
  const size_t to_redis = (limits.page_threads + limits.rebuild_threads) * kMostRedisMasters;
  return limits.connections + stores * shards + limits.bodies_threads + to_redis +
         kOtherDescriptors;
}

int Main(int argc, char** argv) {
  api::Config config;
  daemon::OptionTable table("fanline-api",
                            "serves timelines and who follows whom over HTTP/JSON; without "
                            "authentication: it belongs behind your application's gateway");
  api::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("api", config.daemon);
  const auto mysql_config = options::ToConfig(config.mysql);
  wiring::Checks checks(process);
  const auto installation = checks.AwaitInstallation(mysql_config);
  if (process.stop.requested()) return 0;
  auto redis_options = options::ToOptions(config.redis, config.timelines, installation);
  const auto redis_checked = checks.AskRedis(redis_options);
  checks.Stand();
  const auto mono_now = [] { return daemon::SystemNow().mono; };
  redis_options.silent_nodes = std::make_shared<redis::SilentNodes>(mono_now);
  const auto bodies_config = options::ToConfig(config.bodies);
  if (bodies_config) BodyServing::RequireTable(*bodies_config);
  const auto& map = installation.shard_map;
  http::RaiseDescriptorLimit(DescriptorsFor(config, map.shards()));

  const auto metrics = api::PrometheusMetrics(process.registry, process.log);
  std::optional<Publishing> publishing;
  if (!config.kafka.brokers.empty()) {
    publishing.emplace(config.kafka, installation, config.limits, *metrics, process.log);
  }

  // The shards known to be away: no page waits for one.
  std::vector<std::atomic<bool>> away(map.shards());
  const auto is_away = [&away](Shard shard) { return away[shard].load(); };
  std::optional<BodyServing> bodies;
  if (bodies_config) bodies.emplace(*bodies_config, config.limits, process);
  PageServing serving(mysql_config, redis_options, installation, is_away,
                      bodies ? &bodies->pool : nullptr, config.limits, *metrics);
  serving.live.SetReachable(kRedis, redis_checked->fit());

  const auto health = wiring::ShardHealth(process.health, wiring::Checks::kAnyStore);
  const auto told = [&](Shard shard, const Status& status) {
    away[shard] = !status.done();
    serving.pulls.SetReachable(shard, status.done());
    health(shard, status);
  };
  RelationServing relations(mysql_config, installation, config.limits, told, *metrics, process.log);

  api::Handler handler(*relations.exchanges, serving.pages,
                       publishing ? &*publishing->publisher : nullptr, *metrics, daemon::SystemNow,
                       config.allowed_origins);
  http::Server server(config.listen.host, config.listen.port, api::HttpLimits(config.limits),
                      handler);
  process.log.Info("serves requests", {{"host", config.listen.host}, {"port", server.port()}});
  MainLoop loop{bodies, server, relations, serving.live, serving.pulls, *redis_checked, *metrics};
  const int code = process.Run(loop);
  loop.AnswerTheRest();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-api", [&] { return Main(argc, argv); });
}
