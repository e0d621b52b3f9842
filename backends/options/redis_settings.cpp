#include "backends/options/redis_settings.h"

#include "backends/options/tls_settings.h"

namespace fanline::options {
namespace {

using namespace std::chrono_literals;

std::string SentinelProblem(const redis::Options& options) {
  const bool names_user = !options.sentinel_username.empty();
  const bool has_password = options.sentinel_password.given();
  if (options.sentinel_master.empty() && (names_user || has_password)) {
    return "--redis-sentinel-password: for whom? --redis names Sentinels only when "
           "--redis-sentinel-master is set";
  }
  if (!names_user || has_password) return {};
  return "--redis-sentinel-user: has no password, and nobody signs in without; set "
         "--redis-sentinel-password-file or --redis-sentinel-password";
}

std::string Problem(const RedisSettings& settings) {
  for (const std::string& seed : settings.seeds) {
    const auto address = ParseEndpoint(seed);
    if (!address || address->port == 0) return "--redis: \"" + seed + "\" is not host:port";
  }
  if (settings.seeds.empty()) return "--redis: names no address";
  const redis::Options& options = settings.options;
  if (!redis::IsKeyPrefix(options.key_prefix)) {
    return "--redis-key-prefix: \"" + options.key_prefix + "\" is not at most " +
           std::to_string(redis::kMostOfPrefix) + " letters, digits, '.', '_', ':' or '-'";
  }
  if (std::string wrong = SentinelProblem(options); !wrong.empty()) return wrong;
  if (options.username.empty() || options.password.given()) return {};
  return "--redis-user: has no password, and nobody signs in without; set --redis-password-file "
         "or --redis-password";
}

}  // namespace

std::vector<Endpoint> RedisSettings::addresses() const {
  std::vector<Endpoint> addresses;
  for (const std::string& seed : seeds) addresses.push_back(ParseEndpoint(seed).value());
  return addresses;
}

void AddOptions(daemon::OptionTable& table, RedisSettings& settings) {
  redis::Options& options = settings.options;
  table
      .Add(
          "redis", &settings.seeds,
          "where the timelines live: one node, or some nodes of a Redis Cluster, which tell of the "
          "others, or the Sentinels that tell of --redis-sentinel-master")
      .Unit("HOST:PORT,...");
  table
      .Add("redis-sentinel-master", &options.sentinel_master,
           "what Sentinels call the master; --redis names the Sentinels when it is set")
      .Unit("NAME");
  table.Add("redis-sentinel-user", &options.sentinel_username,
            "the user of the Sentinels' own ACL");
  table.AddSecret("redis-sentinel-password", &options.sentinel_password,
                  "the Sentinels' own password");
  table.Add("redis-user", &options.username, "the user of its ACL; empty is the default user");
  table.AddSecret("redis-password", &options.password, "the password of that user");
  AddTls(table, "redis", options.tls);
  table
      .Add("redis-key-prefix", &options.key_prefix,
           "before every key, so that installations may share a server; the same for every program "
           "of an installation")
      .Unit("TEXT");
  table.Add("redis-connect-timeout", &options.connect_timeout, "how long connecting may take")
      .Range(1ms, 1min);
  table
      .Add("redis-command-timeout", &options.command_timeout,
           "how long an answer may take; then the connection is made anew")
      .Range(10ms, 1min);
  table.Check([&settings] { return Problem(settings); });
}

void AddOptions(daemon::OptionTable& table, TimelineSettings& settings) {
  table.Add("timeline-ttl", &settings.ttl, "how long a timeline stays live after it was last read")
      .Range(1min, 366 * 24h);
}

redis::Options ToOptions(const RedisSettings& redis, const TimelineSettings& timelines,
                         const mysql::Installation& installation) {
  redis::Options options = redis.options;
  options.seeds = redis.addresses();
  options.window = installation.window;
  options.partitions = installation.partitions;
  options.generation = installation.generation;
  options.timeline_ttl = timelines.ttl;
  return options;
}

}  // namespace fanline::options
