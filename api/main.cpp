// HTTP/JSON -> Handler -> the relation store (MariaDB). Wiring only.
#include <algorithm>

#include "api/config.h"
#include "api/http_server.h"
#include "api/inline_mirror.h"
#include "api/prometheus_metrics.h"
#include "api/shard_watch.h"
#include "api/store_pool.h"
#include "backends/mysql/mirror_store.h"
#include "backends/mysql/relation_store.h"
#include "backends/mysql/shard_probe.h"
#include "backends/wiring/start_checks.h"
#include "daemon/inbox.h"
#include "daemon/main_guard.h"
#include "daemon/process.h"

using namespace fanline;

namespace {

// Requests are served on threads of the server's own: here only the shards are watched and the mode
// of the mirror is kept.
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
  api::HttpServer& server;
};

int Main(int argc, char** argv) {
  api::Config config;
  daemon::OptionTable table("fanline-api",
                            "serves who follows whom over HTTP/JSON; without authentication: it "
                            "belongs behind your application's gateway");
  api::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Process process("api", config.daemon);
  process.health.SetReady("loop", false, "starting");  // until requests are served

  const auto mysql_config = options::ToConfig(config.mysql);
  const auto installation = wiring::AwaitInstallation(mysql_config, {}, false, false, process);
  if (process.stop.requested()) return 0;
  const auto& map = installation.shard_map;

  api::PrometheusMetrics metrics(process.registry, process.log);
  // A reverse row that is written at once; the mode says whether. The replies come once the mirror
  // is there: nothing is asked before.
  api::InlineMirror* replies_to = nullptr;
  mysql::MysqlMirrorStore mirror_store(
      mysql_config, map,
      {.applied = [&](const EdgesApplied& reply) { replies_to->Take(reply); },
       .changed = {},
       .log = {},
       .mode = [&](const MirrorModeRead& reply) { replies_to->Take(reply); }},
      {}, process.log.Sink(),
      {.reverse_threads = 2,
       .forward_threads = 0,
       .log_threads = 1,
       .requests_per_batch = 8,
       .queued_per_shard = 1'024});
  api::InlineMirror mirror(mirror_store, mirror_store, map, metrics);
  replies_to = &mirror;

  std::vector<std::unique_ptr<RelationStore>> stores;
  for (uint32_t i = 0; i < config.limits.threads; ++i) {
    stores.push_back(std::make_unique<mysql::MysqlRelationStore>(
        mysql_config, map, config.limits.following_limit,
        [&mirror](const ForwardChanged& changed) { mirror.After(changed); }));
  }
  api::StorePool pool(std::move(stores), map.shards());

  daemon::Inbox<ShardPinged> pings(process.wakeup);
  mysql::MysqlShardProbe probe(
      mysql_config, [&pings](ShardPinged reply) { pings.Push(std::move(reply)); },
      process.log.Sink());
  api::ShardWatch watch(probe, map.shards(),
                        [&](Shard shard, bool reachable, const std::string& reason) {
                          pool.SetReachable(shard, reachable);
                          process.health.SetReady(mysql::ResourceOf(shard), reachable, reason);
                        });

  api::Handler handler(pool, map, config.limits, metrics, daemon::SystemNow);
  api::HttpServer server(config.listen.host, config.listen.port, config.limits, handler);
  process.log.Info("serves requests", {{"host", config.listen.host}, {"port", server.port()}});
  Turn turn{pings, watch, mirror, server};
  return process.Run(turn);
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-api", [&] { return Main(argc, argv); });
}
