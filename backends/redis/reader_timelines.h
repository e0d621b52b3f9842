// The port ReaderTimelines on a real Redis: rebuilding, reading and dropping one timeline.
// Blocking; one object per thread. After a timeout the call may have been carried out. The next
// Begin then returns kBusy until the token's TTL ends; a repeated Finish reports that its token is
// gone, and the rebuild starts again.
#pragma once

#include "backends/redis/cluster/masters.h"
#include "backends/redis/keys.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::redis {

class RedisReaderTimelines : public ReaderTimelines {
 public:
  explicit RedisReaderTimelines(const Options& options);

  Status Begin(UserId reader, const std::string& token, RebuildBegun* begun) override;
  Status Finish(UserId reader, const std::string& token, const std::vector<Item>& items,
                Floor floor, const std::vector<UserId>& marked, bool* applied) override;
  Status Abandon(UserId reader, const std::string& token) override;
  Status Read(UserId reader, const std::optional<Position>& after, uint32_t limit,
              Page* page) override;
  // Deletes the timeline, whatever its key holds, as if it had expired. This is always safe: its
  // reader is served by pulls until it is live again, and the index may name readers who are not
  // live.
  Status Drop(UserId reader);

 private:
  const Options options_;
  const Keys keys_;
  Masters masters_;
};

}  // namespace fanline::redis
