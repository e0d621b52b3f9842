#include "backends/redis/client/masters.h"

#include <string>

#include "backends/redis/client/blocking_connection.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"

namespace fanline::redis {
namespace {

Status Ask(BlockingConnection& connection, const char* command, const char* about,
           std::string* text) {
  CommandBuffer buffer;
  buffer.Command(command, about);
  return connection.Call(buffer, [&](const redisReply& reply) {
    *text = Text(reply);
    return Status::Done();
  });
}

}  // namespace

Status CountMasters(const Options& options, uint32_t* masters) {
  BlockingConnection connection(options);
  std::string info;
  Status status = Ask(connection, "INFO", "cluster", &info);
  if (!status.done()) return status;
  *masters = 1;
  if (InfoField(info, "cluster_enabled") != "1") return status;
  status = Ask(connection, "CLUSTER", "INFO", &info);
  if (!status.done()) return status;
  const auto size = ParseNumber<uint32_t>(InfoField(info, "cluster_size"));
  if (!size || *size == 0) return Status::Later("redis", "the cluster has no master with slots");
  *masters = *size;
  return status;
}

}  // namespace fanline::redis
