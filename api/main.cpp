// HTTP/JSON -> Handler -> Exchanges with the shards (SQL), or Pages and Rebuilds -> Exchanges with
// the shards, live timelines (Redis) and bodies, or Publisher -> feed-events (Kafka). Wiring only.
#include <algorithm>
#include <array>
#include <optional>
#include <thread>

#include "api/config.h"
#include "api/handler.h"
#include "api/inline_mirror.h"
#include "api/pages.h"
#include "api/prometheus_metrics.h"
#include "api/publisher.h"
#include "api/rebuilds.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/posts/post_bodies.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/posts/reposts.h"
#include "backends/redis/client/silent_nodes.h"
#include "backends/redis/page_port.h"
#include "backends/wiring/checks.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "fanline/base/misconfigured.h"
#include "http/descriptors.h"
#include "http/server.h"
#include "timeline/tokens.h"

using namespace fanline;

namespace {

// Everything that the API asks of the shards.
struct ShardService : mysql::RelationService, mysql::ReaderService, mysql::RepostsService {
  using ReaderService::Do;
  using RelationService::Do;
  using RepostsService::Do;
};
using Shards =
    mysql::ShardPort<ShardService, ChangeEdge, ReadPair, ReadList, CountRelations, CheckUsers,
                     ReadForward, ReadFriendship, AskRoom, UseUpChange, AnnouncePair,
                     WriteFriendship, ChangeMutes, ReadMirrorMode, ReadFollowees, ReadLastAt,
                     ReadItems, ConfirmReads, ReadOutbox, LookUpUser, ReadMutes, ReadOriginals,
                     FindSources, ReadReposters, ReadRepostsBy>;

using Classes = std::array<ClassLimits, api::kWorkClasses>;  // by api::Work

Classes ClassesOf(const api::Limits& limits) {
  return {{{.reserved = limits.threads / 4, .queue = limits.queue},
           {.reserved = limits.threads / 4, .queue = limits.queue},
           {.reserved = limits.pull_threads / 4, .queue = limits.pull_queue},
           {.reserved = limits.pull_threads / 2, .queue = limits.pull_queue},
           {.reserved = limits.rebuild_threads}}};
}

uint32_t WorkersOf(const api::Limits& limits) {
  return limits.threads + limits.pull_threads + limits.rebuild_threads;
}

// The stores, and what asks them.
struct Serving {
  Serving(const mysql::Config& mysql, const redis::Options& redis,
          const std::optional<mysql::BodiesConfig>& bodies_config,
          const mysql::Installation& installation, const api::Limits& limits, api::Metrics& metrics,
          daemon::Process& process)
      : classes(ClassesOf(limits)),
        reverse(mysql, {}, process.log.Sink(), {},
                {.threads_per_shard = 2, .batch = 8, .queue = 1'024}),
        timelines(redis, {.pages = limits.page_threads,
                          .rebuilds = limits.rebuild_threads,
                          .queue = limits.pull_queue}),
        shards(mysql, wiring::ShardHealth(process.health, wiring::Checks::kAnyStore),
               process.log.Sink(), {{installation.shard_map, installation.following_limit}, {}, {}},
               {.threads_per_shard = WorkersOf(limits),
                .classes = classes,
                .newest_first_after = limits.longest_wait / 2,
                .probes = true}) {
    const ShardMap& map = installation.shard_map;
    const auto mono = [] { return SystemNow().mono; };
    if (bodies_config) ServeBodies(*bodies_config, limits, process);
    mirror.emplace(api::InlineMirror::Servers{shards, reverse, shards}, map, metrics, mono);
    exchanges.emplace(*mirror, shards, shards, timelines, bodies ? &*bodies : nullptr, map,
                      api::Exchanges::Rules{installation.following_limit, limits.longest_wait},
                      SystemNow);
    const timeline::RebuildRules rules{installation.window, [this] { return tokens.Next(); },
                                       installation.own_posts};
    rebuilds.emplace(api::Rebuilds::By(*exchanges, map, rules, metrics),
                     api::Rebuilds::Limits{.at_once = limits.rebuild_threads,
                                           .pages = limits.connections / 4 * 3,
                                           .longest_wait = 2 * limits.longest_pull_wait,
                                           .newest_first_after = limits.longest_wait / 2},
                     metrics, mono, map);
    pages.emplace(*exchanges, *rebuilds, map, metrics, SystemNow,
                  api::Pages::Rules{.own_posts = installation.own_posts,
                                    .overlap = limits.newest_overlap,
                                    .columns = bodies_config ? &bodies_config->columns : nullptr,
                                    .pulls = limits.pull_threads,
                                    .away = [this](Shard shard) { return shards.away(shard); },
                                    .longest_wait = limits.longest_wait,
                                    .longest_pull_wait = limits.longest_pull_wait,
                                    .longest_bodies_wait = limits.longest_bodies_wait});
  }

  // Their replies lead to requests to each other, so all threads end first.
  ~Serving() {
    timelines.Stop();
    if (bodies) bodies->Stop();
    shards.Stop();
  }

  // Ends the program if there is no such table. A server that is away does not end it.
  void ServeBodies(const mysql::BodiesConfig& config, const api::Limits& limits,
                   daemon::Process& process) {
    const Status status = mysql::CheckBodiesTable(config);
    if (status.never()) throw Misconfigured(status.message);
    const auto told = [&process](Shard, const Status& known) {
      known.done() ? process.log.Info("the application's database answers: pages have bodies")
                   : process.log.Warn("the application's database is away: pages have no bodies",
                                      {{"reason", known.message}});
    };
    bodies.emplace(config.server, told, process.log.Sink(), mysql::BodiesService{config},
                   mysql::PoolLimits{.threads_per_shard = limits.bodies_threads,
                                     .queue = limits.bodies_queue,
                                     .newest_first_after = limits.longest_bodies_wait / 2,
                                     .probes = true});
  }

  Time Step(Time now) {
    shards.DropLate();
    timelines.DropLate();
    if (bodies) bodies->DropLate();
    rebuilds->Step();
    return std::min(mirror->Step(now), exchanges->Step(now));
  }

  const Classes classes;
  timeline::Tokens tokens;
  std::optional<api::InlineMirror> mirror;  // with the next three: the stores reply to them
  std::optional<api::Exchanges> exchanges;
  std::optional<api::Rebuilds> rebuilds;
  std::optional<api::Pages> pages;
  mysql::MysqlReverseStore reverse;
  redis::PagePort timelines;
  std::optional<mysql::MysqlPostBodies> bodies;
  Shards shards;
};

// Publishes posts. Kafka may be away, now or always.
struct Publishing {
  Publishing(const options::KafkaSettings& kafka, const mysql::Installation& installation,
             const api::Limits& limits, api::Metrics& metrics, daemon::Process& process)
      : producer(OptionsOf(kafka, installation, limits, process.health), process.log.Sink()) {
    publisher.emplace(producer, limits.publish_queue, metrics, SystemNow);
  }

  static kafka::ProducerOptions OptionsOf(const options::KafkaSettings& kafka,
                                          const mysql::Installation& installation,
                                          const api::Limits& limits, daemon::Health& health) {
    kafka::ProducerOptions options;
    options.client = options::ToOptions(kafka, "fanline-api");
    // Only feedctl creates a missing topic. Brokers would create it with their own settings.
    options.client.properties.emplace("allow.auto.create.topics", "false");
    options.feed_topic = installation.feed_topic;
    options.delivery_timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(limits.publish_timeout);
    options.queued_records = limits.publish_queue;
    // All that does not publish is served without Kafka.
    options.on_brokers = [&health, name = "kafka_" + installation.feed_topic](bool any) {
      health.SetReach(name, "kafka", any ? daemon::Reach::kWhole : daemon::Reach::kEnough,
                      "no broker answers; posts are refused with 503");
    };
    return options;
  }

  std::optional<api::Publisher> publisher;  // the producer's replies come here: it outlives it
  kafka::Producer producer;
};

// The main loop keeps time, and has timelines served from Redis once Redis was found fit. Threads
// of the server and of the stores serve requests.
struct MainLoop {
  daemon::StepResult Step(const Now& now) {
    serving.timelines.SetFit(redis.fit());
    TellWhatWaits();
    return {.next_timer = serving.Step(now.mono)};
  }

  void TellWhatWaits() const {
    constexpr auto kFirstOfPages = static_cast<size_t>(api::Work::kMerges);
    metrics.Waiting(api::Pool::kRelations, serving.shards.waiting(0, kFirstOfPages - 1));
    metrics.Waiting(api::Pool::kTimelines, serving.timelines.waiting());
    metrics.Waiting(api::Pool::kTruth, serving.shards.waiting(kFirstOfPages));
    if (serving.bodies) metrics.Waiting(api::Pool::kBodies, serving.bodies->waiting());
  }

  daemon::DrainResult Drain(const Now& now) {
    server.Stop();
    serving.rebuilds->Stop();
    serving.Step(now.mono);
    return {.done = server.stopped(), .next_timer = now.mono + std::chrono::milliseconds(20)};
  }

  // Beyond the limit of the drain the requests under way are answered all the same, and in time.
  void AnswerTheRest() {
    for (server.Stop(); !server.stopped();
         std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
      serving.Step(SystemNow().mono);
    }
  }

  http::Server& server;
  Serving& serving;
  const wiring::AwaitedRedis& redis;
  api::Metrics& metrics;
};

// Descriptors of everything but connections: the client libraries, the log and so on.
constexpr size_t kOtherDescriptors = 256;

constexpr size_t kMostRedisMasters = 16;  // as many as the limit of descriptors allows for

size_t DescriptorsFor(const api::Config& config, uint32_t shards) {
  const api::Limits& limits = config.limits;
  const size_t of_a_shard = WorkersOf(limits) + 4;
  const size_t to_redis = (limits.page_threads + limits.rebuild_threads) * kMostRedisMasters;
  return limits.connections + of_a_shard * shards + limits.bodies_threads + to_redis +
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
  const auto mono_now = [] { return SystemNow().mono; };
  redis_options.silent_nodes = std::make_shared<redis::SilentNodes>(mono_now);
  const auto bodies_config = options::ToConfig(config.bodies);
  const auto& map = installation.shard_map;
  http::RaiseDescriptorLimit(DescriptorsFor(config, map.shards()));

  api::PrometheusMetrics metrics(process.registry, process.log);
  std::optional<Publishing> publishing;
  if (!config.kafka.brokers.empty()) {
    publishing.emplace(config.kafka, installation, config.limits, metrics, process);
  }

  Serving serving(mysql_config, redis_options, bodies_config, installation, config.limits, metrics,
                  process);
  serving.timelines.SetFit(redis_checked->fit());

  api::Handler handler(*serving.exchanges, *serving.pages,
                       publishing ? &*publishing->publisher : nullptr, metrics, SystemNow,
                       config.allowed_origins);
  http::Server server(config.listen.host, config.listen.port, api::HttpLimits(config.limits),
                      handler);
  process.log.Info("serves requests", {{"host", config.listen.host}, {"port", server.port()}});
  MainLoop loop{server, serving, *redis_checked, metrics};
  const int code = process.Run(loop);
  loop.AnswerTheRest();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-api", [&] { return Main(argc, argv); });
}
