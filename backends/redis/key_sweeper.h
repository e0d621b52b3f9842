// Deletes all our keys from Redis, whatever the number of ranges they were made for. They are a
// cache: pushers take their ranges over again, and readers rebuild their timelines. Other keys
// stay. Blocking; one thread.
#pragma once

#include <string>
#include <vector>

#include "backends/redis/cluster/masters.h"
#include "backends/redis/keys.h"

namespace fanline::redis {

class KeySweeper {
 public:
  explicit KeySweeper(const Options& options);

  // Deletes the next page of a SCAN, one master after the other. The caller waits between pages, so
  // that others are served meanwhile. After a failure it may be called again. A key made during the
  // walk may stay.
  Status Step();
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
