// Deletes all our keys from Redis, whatever the number of ranges they were made for. They are a
// cache: pushers take their ranges over again, and readers rebuild their timelines. Other keys
// stay. Blocking; one thread.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/cluster/masters.h"
#include "backends/redis/keys.h"

namespace fanline::redis {

class KeySweeper {
 public:
  explicit KeySweeper(const Options& options)
      : options_(options), keys_(options), masters_(options) {}

  // Deletes the next page of a SCAN, one master after the other. The caller waits between pages, so
  // that others are served meanwhile. After a failure it may be called again. A key made during the
  // walk may stay.
  Status Step() {
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
  bool done() const { return begun_ && nodes_.empty(); }
  uint64_t deleted() const { return deleted_; }
  // Keys looked at, deleted or not; approximate, since Redis does not tell.
  uint64_t looked_at() const { return looked_at_; }

 private:
  const Options options_;
  const Keys keys_;
  Masters masters_;
  std::vector<Endpoint> nodes_;  // not finished; the last is under way
  std::string cursor_ = "0";
  bool begun_ = false;
  uint64_t deleted_ = 0;
  uint64_t looked_at_ = 0;
};

}  // namespace fanline::redis
