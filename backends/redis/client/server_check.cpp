#include "backends/redis/client/server_check.h"

#include "backends/redis/client/blocking_connection.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"

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

}  // namespace

ServerCheck Judge(std::string_view info, std::string_view listpack_entries,
                  const WindowLimits& window) {
  ServerCheck check;
  check.version = InfoField(info, "redis_version");
  if (TooOld(check.version)) {
    check.refusals.push_back("redis " + check.version + " is too old: 6.2 or newer is needed");
  }
  if (InfoField(info, "cluster_enabled") == "1") {
    check.refusals.push_back(
        "this redis is a cluster node: one node without cluster mode is needed");
  }
  const std::string_view policy = InfoField(info, "maxmemory_policy");
  if (policy.substr(0, 7) == "allkeys") {
    check.refusals.push_back("maxmemory-policy " + std::string(policy) +
                             " evicts the owner epochs that fence writers: set maxmemory-policy "
                             "volatile-lru (or noeviction)");
  }
  const auto entries = ParseNumber<uint64_t>(listpack_entries);
  const std::string wanted = std::to_string(window.max_entries);
  if (!entries) {
    check.warnings.push_back("zset-max-listpack-entries cannot be read: set it to at least " +
                             wanted + ", or timelines take 5.6 times the memory");
  } else if (*entries < window.max_entries) {
    check.warnings.push_back("zset-max-listpack-entries is " + std::to_string(*entries) +
                             ": timelines of up to " + wanted +
                             " members take 5.6 times the memory (58 KB instead of 10 KB each); "
                             "set it to " +
                             wanted);
  }
  return check;
}

Status CheckServer(const Options& options, ServerCheck* out) {
  BlockingConnection connection(options);
  std::string info;
  for (const char* section : {"server", "memory", "cluster"}) {
    CommandBuffer command;
    command.Command("INFO", section);
    const Status status = connection.Call(command, [&](const redisReply& reply) {
      info += Text(reply);
      return Status::Done();
    });
    if (!status.done()) return status;
  }
  std::string entries;
  for (const char* name : {"zset-max-listpack-entries", "zset-max-ziplist-entries"}) {
    if (!entries.empty()) break;
    CommandBuffer command;
    command.Command("CONFIG", "GET", name);
    // A refusal (hosted servers hide CONFIG) leaves it unknown.
    (void)connection.Call(command, [&](const redisReply& reply) {
      if (IsArray(reply, 2)) entries = Text(At(reply, 1));
      return Status::Done();
    });
  }
  *out = Judge(info, entries, options.window);
  return Status::Done();
}

}  // namespace fanline::redis
