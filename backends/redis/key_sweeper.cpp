#include "backends/redis/key_sweeper.h"

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"

namespace fanline::redis {

KeySweeper::KeySweeper(const Options& options)
    : options_(options), keys_(options), masters_(options) {}

Status KeySweeper::Step() {
  if (!begun_) {
    if (Status asked = masters_.Refresh(Masters::Ask::kAll); !asked.done()) return asked;
    nodes_ = masters_.map().masters();
    begun_ = true;
  }
  BlockingConnection& connection = masters_.At(nodes_.back());
  const CommandBuffer scan =
      CommandOf("SCAN", cursor_, "MATCH", keys_.All(), "COUNT", options_.scan_count);
  std::string next;
  CommandBuffer unlinks;
  size_t found = 0;
  Status status = connection.Call(scan, [&](const redisReply& reply) {
    const bool read = ReadScanned(reply, &next, [&](std::string_view name) {
      if (!keys_.IsOurs(name)) return;
      unlinks.Command("UNLINK", name);  // each alone: their slots differ
      ++found;
    });
    return read ? Status::Done() : Away("unexpected answer of SCAN");
  });
  if (status.done() && found > 0) {
    status = connection.Pipeline(unlinks, found, [this](const redisReply& reply) {
      deleted_ += static_cast<uint64_t>(Integer(reply).value_or(0));
      return Status::Done();
    });
  }
  if (!status.done()) return status;
  looked_at_ += std::max<uint64_t>(options_.scan_count, found);
  cursor_ = next;
  if (cursor_ == "0") nodes_.pop_back();
  return Status::Done();
}

}  // namespace fanline::redis
