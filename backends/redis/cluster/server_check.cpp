#include "backends/redis/cluster/server_check.h"

#include "backends/redis/client/errors.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/cluster/masters.h"
#include "fanline/base/number.h"

namespace fanline::redis {
namespace {

// ZMSCORE came with 6.2.
constexpr int kLeastMajor = 6;
constexpr int kLeastMinor = 2;

bool TooOld(std::string_view version) {
  const size_t dot = version.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view rest = version.substr(dot + 1);
  const auto major = ParseNumber<int>(version.substr(0, dot));
  const auto minor = ParseNumber<int>(rest.substr(0, rest.find('.')));
  if (!major || !minor) return false;
  return *major < kLeastMajor || (*major == kLeastMajor && *minor < kLeastMinor);
}

// All servers have this setting. One that does not tell it refuses CONFIG, as managed services do,
// and others to a user without the right.
bool HidesSettings(const ServerSays& says) { return says.listpack_entries.empty(); }

std::string ToSet(const ServerSays& says, const std::string& setting) {
  if (!HidesSettings(says)) return "; redis-cli CONFIG SET " + setting + ", and in redis.conf";
  return "; set " + setting + " in redis.conf, or in the service's parameter group";
}

// It may be right already.
std::string ToReadOrSet(const ServerSays& says, const std::string& setting) {
  const std::string set = ToSet(says, setting);
  return says.denied ? "; give the user +config|get, or" + set.substr(1) : set;
}

void JudgeListpack(const ServerSays& says, const WindowLimits& window, ServerCheck& check) {
  const auto entries = ParseNumber<uint64_t>(says.listpack_entries);
  if (entries && *entries >= window.max_entries) return;
  const std::string wanted = std::to_string(window.max_entries);
  check.warnings.push_back(
      "zset-max-listpack-entries " +
      (entries ? "is " + std::to_string(*entries) : std::string("cannot be read")) + ": below " +
      wanted + " long timelines take four times the memory (50 KB instead of 12 KB each)" +
      ToReadOrSet(says, "zset-max-listpack-entries " + wanted));
}

void JudgeCoverage(const ServerSays& says, ServerCheck& check) {
  constexpr const char* kUnless = ": unless it is no, one master away stops the ranges of all";
  const std::string setting = "cluster-require-full-coverage";
  if (says.full_coverage.empty()) {
    check.warnings.push_back(setting + " cannot be read" + kUnless +
                             ToReadOrSet(says, setting + " no"));
  } else if (says.full_coverage != "no") {
    check.refusals.push_back(setting + " is " + says.full_coverage + kUnless +
                             "; redis-cli --cluster call HOST:PORT CONFIG SET " + setting +
                             " no, and set it in every node's redis.conf");
  }
}

// With an eviction policy, Redis is meant to be full.
void JudgeMemory(const ServerSays& says, ServerCheck& check) {
  const std::string policy(InfoField(says.info, "maxmemory_policy"));
  if (policy.empty() || policy.starts_with("allkeys")) {
    const std::string what =
        "maxmemory-policy " +
        (policy.empty() ? "cannot be read: one of allkeys-* evicts" : policy + " evicts") +
        " the owner epochs that fence writers" +
        ToSet(says, "maxmemory-policy noeviction (or volatile-lru)");
    (policy.empty() ? check.warnings : check.refusals).push_back(what);
  } else if (policy == "volatile-ttl") {
    check.warnings.push_back(
        "maxmemory-policy volatile-ttl: a full Redis evicts what is being rebuilt before what "
        "nobody reads" +
        ToSet(says, "maxmemory-policy volatile-lru"));
  }
  const auto used = ParseNumber<uint64_t>(InfoField(says.info, "used_memory"));
  const auto most = ParseNumber<uint64_t>(InfoField(says.info, "maxmemory"));
  if (!used || !most || policy != "noeviction" || *most == 0 || *used < *most) return;
  check.full.push_back(
      "is full: " + std::to_string(*used) + " bytes used, maxmemory is " + std::to_string(*most) +
      ": it takes no timeline, and drops those that get a post" +
      (HidesSettings(says) ? "; raise it in redis.conf, or give the service larger nodes, or more "
                             "of them"
                           : "; redis-cli CONFIG SET maxmemory, to more than both, and in "
                             "redis.conf"));
}

// A setting that cannot be read stays unknown: hosted servers refuse CONFIG.
std::string ReadSetting(BlockingConnection& connection, const char* name, ServerSays* says) {
  std::string value;
  const Status status =
      connection.Call(CommandOf("CONFIG", "GET", name), [&](const redisReply& reply) {
        if (IsArray(reply, 2)) value = Text(At(reply, 1));
        return Status::Done();
      });
  if (MeaningOf(status.message).word == "NOPERM") says->denied = true;
  return value;
}

Status Listen(BlockingConnection& connection, ServerSays* says) {
  for (const char* section : {"server", "memory", "cluster"}) {
    const Status status = connection.Call(CommandOf("INFO", section), [&](const redisReply& reply) {
      says->info += Text(reply);
      return Status::Done();
    });
    if (!status.done()) return status;
  }
  // Its name before Redis 7, which every later one knows.
  says->listpack_entries = ReadSetting(connection, "zset-max-ziplist-entries", says);
  says->full_coverage = ReadSetting(connection, "cluster-require-full-coverage", says);
  return Status::Done();
}

}  // namespace

ServerCheck Judge(const ServerSays& says, const WindowLimits& window) {
  ServerCheck check;
  // Valkey calls itself Redis 7.2.4 too, for programs that know no other.
  const std::string version(InfoField(says.info, "redis_version"));
  const std::string valkey(InfoField(says.info, "valkey_version"));
  check.server = valkey.empty() ? "Redis " + version : "Valkey " + valkey;
  if (TooOld(version)) {
    check.refusals.push_back("redis " + version + " is too old; 6.2 or newer is needed");
  }
  JudgeMemory(says, check);
  if (InfoField(says.info, "cluster_enabled") == "1") JudgeCoverage(says, check);
  JudgeListpack(says, window, check);
  return check;
}

Status CheckServer(const Options& options, ServerCheck* out) {
  Masters masters(options);
  if (Status status = masters.Refresh(Masters::Ask::kAll); !status.done()) return status;
  Status last;
  size_t asked = 0;
  for (const Endpoint& node : masters.map().masters()) {
    const std::string at = "redis " + ToString(node) + ": ";
    ServerSays says;
    if (Status status = Listen(masters.At(node), &says); !status.done()) {
      out->warnings.push_back(
          at + "could not be asked whether it can hold timelines: " + status.message);
      last = std::move(status);
      continue;
    }
    ++asked;
    const ServerCheck check = Judge(says, options.window);
    for (const std::string& refusal : check.refusals) out->refusals.push_back(at + refusal);
    for (const std::string& warning : check.warnings) out->warnings.push_back(at + warning);
    for (const std::string& full : check.full) out->full.push_back(at + full);
    out->server = check.server;
  }
  return asked > 0 ? Status::Done() : last;
}

}  // namespace fanline::redis
