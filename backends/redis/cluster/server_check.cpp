#include "backends/redis/cluster/server_check.h"

#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/cluster/masters.h"
#include "fanline/base/number.h"

namespace fanline::redis {
namespace {

// SMISMEMBER came with 6.2.
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

void JudgeListpack(std::string_view listpack_entries, const WindowLimits& window,
                   ServerCheck& check) {
  const auto entries = ParseNumber<uint64_t>(listpack_entries);
  const std::string wanted = std::to_string(window.max_entries);
  if (!entries) {
    check.warnings.push_back("zset-max-listpack-entries cannot be read; set it to at least " +
                             wanted + ", or timelines take 5.6 times the memory");
  } else if (*entries < window.max_entries) {
    check.warnings.push_back("zset-max-listpack-entries is " + std::to_string(*entries) +
                             ": timelines of up to " + wanted +
                             " members take 5.6 times the memory (58 KB instead of 10 KB each); "
                             "redis-cli CONFIG SET zset-max-listpack-entries " +
                             wanted + ", and in redis.conf");
  }
}

void JudgeCoverage(std::string_view full_coverage, ServerCheck& check) {
  const std::string command =
      "; redis-cli --cluster call HOST:PORT CONFIG SET cluster-require-full-coverage no, and "
      "set it in every node's redis.conf";
  if (full_coverage.empty()) {
    check.warnings.push_back(
        "cluster-require-full-coverage cannot be read: unless it is no, one master away stops the "
        "ranges of all" +
        command);
  } else if (full_coverage != "no") {
    check.refusals.push_back("cluster-require-full-coverage is " + std::string(full_coverage) +
                             ", so one master away would stop the ranges of all" + command);
  }
}

// With an eviction policy, Redis is meant to be full.
void JudgeMemory(std::string_view policy, std::string_view info, ServerCheck& check) {
  const auto used = ParseNumber<uint64_t>(InfoField(info, "used_memory"));
  const auto most = ParseNumber<uint64_t>(InfoField(info, "maxmemory"));
  if (!used || !most || policy != "noeviction" || *most == 0 || *used < *most) return;
  check.full.push_back("is full: " + std::to_string(*used) + " bytes used, maxmemory is " +
                       std::to_string(*most) +
                       ": it takes no timeline, and drops those that get a post; redis-cli CONFIG "
                       "SET maxmemory, to more than both, and in redis.conf");
}

std::string ReadSetting(BlockingConnection& connection, const char* name) {
  std::string value;
  // Hosted servers refuse CONFIG; the setting is then unknown.
  (void)connection.Call(CommandOf("CONFIG", "GET", name), [&](const redisReply& reply) {
    if (IsArray(reply, 2)) value = Text(At(reply, 1));
    return Status::Done();
  });
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
  says->listpack_entries = ReadSetting(connection, "zset-max-listpack-entries");
  if (says->listpack_entries.empty()) {
    says->listpack_entries = ReadSetting(connection, "zset-max-ziplist-entries");
  }
  says->full_coverage = ReadSetting(connection, "cluster-require-full-coverage");
  return Status::Done();
}

}  // namespace

ServerCheck Judge(const ServerSays& says, const WindowLimits& window) {
  ServerCheck check;
  const std::string version(InfoField(says.info, "redis_version"));
  if (TooOld(version)) {
    check.refusals.push_back("redis " + version + " is too old; 6.2 or newer is needed");
  }
  const std::string_view policy = InfoField(says.info, "maxmemory_policy");
  if (policy.substr(0, 7) == "allkeys") {
    check.refusals.push_back(
        "maxmemory-policy " + std::string(policy) +
        " evicts the owner epochs that fence writers; redis-cli CONFIG SET "
        "maxmemory-policy noeviction (or one of volatile-*), and in redis.conf");
  }
  JudgeMemory(policy, says.info, check);
  if (InfoField(says.info, "cluster_enabled") == "1") JudgeCoverage(says.full_coverage, check);
  JudgeListpack(says.listpack_entries, window, check);
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
  }
  return asked > 0 ? Status::Done() : last;
}

}  // namespace fanline::redis
