// HTTP/JSON -> Handler -> the relation store (MariaDB), or Pages -> live timelines (Redis), the
// truth (MariaDB) and rebuilds. Wiring only.
#include <algorithm>
#include <atomic>
#include <optional>

#include "api/config.h"
#include "api/handler.h"
#include "api/inline_mirror.h"
#include "api/pages.h"
#include "api/prometheus_metrics.h"
#include "api/rebuilds.h"
#include "api/shard_watch.h"
#include "api/store_pool.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/sql/shard_probe.h"
#include "backends/redis/reader_timelines.h"
#include "backends/wiring/checks.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
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

// What pages are served with: connections of their own, and the rebuilds behind them.
struct PageServing {
  PageServing(const mysql::Config& mysql, const redis::Options& redis,
              const mysql::Installation& installation, const mysql::ShardConnections::Away& away,
              const api::Limits& limits, api::Metrics& metrics)
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
             1, {.queued = limits.queue, .longest_wait = limits.longest_wait}),
        rebuilds(Rebuilders(mysql, redis, installation, away, limits, metrics), {}, metrics,
                 [] { return daemon::SystemNow().mono; }),
        pages(live, pulls, rebuilds, installation.shard_map, metrics, daemon::SystemNow) {}

  // Each with ports of its own.
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
      timeline::Reader reader(ports->truth, ports->timelines, installation.window,
                              [this] { return tokens.Next(); });
      rebuilders.emplace_back([ports, reader, &metrics](UserId user) mutable {
        timeline::RebuildResult result{};
        const Status status = reader.Activate(user, &result);
        status.done() ? metrics.RebuildEnded(result)
                      : metrics.RebuildFailed(status.resource, status.message);
      });
    }
    return rebuilders;
  }

  timeline::Tokens tokens;
  api::TruthPool pulls;
  api::TimelinePool live;
  api::Rebuilds rebuilds;
  api::Pages pages;
};

// The main loop only watches the shards and keeps the mirror's mode. Threads of the server and of
// the stores serve requests.
struct Turn {
  daemon::StepResult Step(const Now& now) {
    const Time next = std::min(watch.Step(pings.Drain(), now.mono), mirror.Step(now.mono));
    return {.next_timer = next};
  }

  daemon::DrainResult Drain(const Now& now) {
    server.Stop();
    return {.done = server.stopped(), .next_timer = now.mono + std::chrono::milliseconds(20)};
  }

  daemon::Inbox<ShardPinged>& pings;
  api::ShardWatch& watch;
  api::InlineMirror& mirror;
  http::Server& server;
};

// Descriptors of the client libraries, the log and all else besides connections.
constexpr size_t kOtherDescriptors = 256;

constexpr size_t kMostRedisMasters = 16;  // that the limit of descriptors is raised for

size_t DescriptorsFor(const api::Config& config, uint32_t shards) {
  const api::Limits& limits = config.limits;
  const size_t stores = limits.threads + limits.pull_threads + limits.rebuild_threads + 8;
  const size_t to_redis = (limits.page_threads + limits.rebuild_threads) * kMostRedisMasters;
  return limits.connections + stores * shards + to_redis + kOtherDescriptors;
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
  const auto installation = checks.AwaitInstallation(mysql_config, {.agreed = config.agreed});
  if (process.stop.requested()) return 0;
  const auto redis_options = options::ToOptions(config.redis, config.timelines, installation);
  checks.AwaitRedis(redis_options);
  if (process.stop.requested()) return 0;
  checks.Stand();
  const auto& map = installation.shard_map;
  config.limits.following_limit = installation.following_limit;
  http::RaiseDescriptorLimit(DescriptorsFor(config, map.shards()));

  const auto metrics = api::PrometheusMetrics(process.registry, process.log);
  // Writes reverse rows inline, as the mode says. It is the address of the stores' replies, so it
  // outlives them.
  std::optional<api::InlineMirror> mirror;
  mysql::MysqlReverseStore reverse(mysql_config, {}, process.log.Sink(), {},
                                   {.threads_per_shard = 2, .batch = 8, .queue = 1'024});
  mysql::MysqlChangeStore modes(mysql_config, {}, process.log.Sink(), {}, {.queue = 1'024});
  mirror.emplace(reverse, modes, map, *metrics);

  // Shards known to be away, shared by all stores: no store waits for such a shard.
  std::vector<std::atomic<bool>> away(map.shards());
  const auto is_away = [&away](Shard shard) { return away[shard].load(); };
  api::StorePool pool(
      Many<RelationStore>(config.limits.threads,
                          [&] {
                            return std::make_unique<mysql::MysqlRelationStore>(
                                mysql_config, map, config.limits.following_limit,
                                [&](const ForwardChanged& changed) { mirror->After(changed); },
                                is_away);
                          }),
      map.shards(), {.queued = config.limits.queue, .longest_wait = config.limits.longest_wait});
  PageServing serving(mysql_config, redis_options, installation, is_away, config.limits, *metrics);

  daemon::Inbox<ShardPinged> pings(process.wakeup);
  mysql::MysqlShardProbe probe(mysql_config, {}, process.log.Sink());
  api::ShardWatch watch({probe, pings}, map.shards(),
                        [&](Shard shard, bool reachable, const std::string& reason) {
                          away[shard] = !reachable;
                          pool.SetReachable(shard, reachable);
                          serving.pulls.SetReachable(shard, reachable);
                          process.health.SetReady(mysql::ResourceOf(shard), reachable, reason);
                        });

  api::Handler handler(pool, serving.pages, map, config.limits, *metrics, daemon::SystemNow);
  http::Server server(config.listen.host, config.listen.port, api::HttpLimits(config.limits),
                      handler);
  process.log.Info("serves requests", {{"host", config.listen.host}, {"port", server.port()}});
  Turn turn{pings, watch, *mirror, server};
  return process.Run(turn);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-api", [&] { return Main(argc, argv); });
}
