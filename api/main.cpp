// HTTP/JSON -> Handler -> the relation store (MariaDB). Wiring only.
#include <algorithm>
#include <atomic>
#include <optional>

#include "api/config.h"
#include "api/handler.h"
#include "api/inline_mirror.h"
#include "api/prometheus_metrics.h"
#include "api/shard_watch.h"
#include "api/store_pool.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/sql/shard_probe.h"
#include "backends/wiring/checks.h"
#include "daemon/inbox.h"
#include "daemon/run/main_guard.h"
#include "daemon/run/process.h"
#include "http/descriptors.h"
#include "http/server.h"

using namespace fanline;

namespace {

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

size_t DescriptorsFor(const api::Config& config, uint32_t shards) {
  const size_t to_shards = (config.limits.threads + 8) * static_cast<size_t>(shards);
  return config.limits.connections + to_shards + kOtherDescriptors;
}

int Main(int argc, char** argv) {
  api::Config config;
  daemon::OptionTable table("fanline-api",
                            "serves who follows whom over HTTP/JSON; without authentication: it "
                            "belongs behind your application's gateway");
  api::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("api", config.daemon);
  const auto mysql_config = options::ToConfig(config.mysql);
  wiring::Checks checks(process);
  const auto installation = checks.AwaitInstallation(mysql_config, {.agreed = config.agreed});
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
  std::vector<std::unique_ptr<RelationStore>> stores;
  for (uint32_t i = 0; i < config.limits.threads; ++i) {
    stores.push_back(std::make_unique<mysql::MysqlRelationStore>(
        mysql_config, map, config.limits.following_limit,
        [&mirror](const ForwardChanged& changed) { mirror->After(changed); },
        [&away](Shard shard) { return away[shard].load(); }));
  }
  api::StorePool pool(std::move(stores), map.shards(),
                      {.queued = config.limits.queue, .longest_wait = config.limits.longest_wait});

  daemon::Inbox<ShardPinged> pings(process.wakeup);
  mysql::MysqlShardProbe probe(mysql_config, {}, process.log.Sink());
  api::ShardWatch watch({probe, pings}, map.shards(),
                        [&](Shard shard, bool reachable, const std::string& reason) {
                          away[shard] = !reachable;
                          pool.SetReachable(shard, reachable);
                          process.health.SetReady(mysql::ResourceOf(shard), reachable, reason);
                        });

  api::Handler handler(pool, map, config.limits, *metrics, daemon::SystemNow);
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
