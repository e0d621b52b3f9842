#include "backends/redis/cluster/sentinels.h"

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"

namespace fanline::redis {
namespace {

// ["127.0.0.1", "6379"]
bool ReadAddress(const redisReply& reply, Endpoint* address) {
  if (!IsArray(reply, 2)) return false;
  const auto port = ParseNumber<uint16_t>(Text(At(reply, 1)));
  if (!port) return false;
  *address = {std::string(Text(At(reply, 0))), *port};
  return true;
}

// [.., "config-epoch", "3", ..]
uint64_t ReadEpoch(const redisReply& fields) {
  for (size_t i = 0; IsArray(fields, i + 2); i += 2) {
    if (Text(At(fields, i)) != "config-epoch") continue;
    return ParseNumber<uint64_t>(Text(At(fields, i + 1))).value_or(0);
  }
  return 0;
}

}  // namespace

Sentinels::Sentinels(const Options& options) : master_(options.sentinel_master) {
  if (master_.empty()) return;
  for (const Endpoint& seed : options.seeds) {
    sentinels_.push_back({seed, std::make_unique<BlockingConnection>(options.AtSentinel(seed))});
  }
}
Sentinels::~Sentinels() = default;

Status Sentinels::Ask(const std::function<bool(const Word&)>& take) {
  Status last;
  bool heard = false;
  std::vector<bool> silent(sentinels_.size(), false);
  for (size_t i = 0; i < sentinels_.size(); ++i) {
    Word word;
    const Status status = AskOne(*sentinels_[i].connection, &word);
    if (status.done()) {
      heard = true;
      if (!take(word)) break;
      continue;
    }
    silent[i] = true;
    last = status;
    if (!last.message.starts_with("redis ")) {  // it was reached
      last.message = "Sentinel " + ToString(sentinels_[i].address) + ": " + last.message;
    }
  }
  size_t at = 0;
  std::stable_partition(sentinels_.begin(), sentinels_.end(),
                        [&](const Sentinel&) { return !silent[at++]; });
  return heard ? Status::Done() : last;
}

// Two questions: only the first tells of a replica from the moment that it was made the master.
Status Sentinels::AskOne(BlockingConnection& sentinel, Word* word) {
  CommandBuffer commands;
  commands.Command("SENTINEL", "get-master-addr-by-name", master_);
  commands.Command("SENTINEL", "master", master_);
  size_t next = 0;
  return sentinel.Pipeline(commands, 2, [&](const redisReply& reply) {
    if (next++ > 0) {
      word->epoch = ReadEpoch(reply);
      return Status::Done();
    }
    if (ReadAddress(reply, &word->master)) return Status::Done();
    return Away("it watches no master called " + master_ + "; set --redis-sentinel-master");
  });
}

}  // namespace fanline::redis
