// Deletes all keys of ours from Redis, whatever version of the programs made them and however they
// cut the buckets. What is lost is a cache: pushers take their ranges over anew, and readers
// rebuild their timelines. Other keys stay. Blocking; one thread.
#pragma once

#include <string>

#include "backends/redis/client/blocking_connection.h"

namespace fanline::redis {

class KeySweeper {
 public:
  explicit KeySweeper(const Options& options);

  // The next page of a SCAN. The caller waits between pages, so that others are served meanwhile.
  // After a failure it may be tried again. A key made during the walk may stay.
  Status Step();
  bool done() const { return begun_ && cursor_ == "0"; }
  uint64_t deleted() const { return deleted_; }

 private:
  const Options options_;
  BlockingConnection connection_;
  std::string cursor_ = "0";
  bool begun_ = false;
  uint64_t deleted_ = 0;
};

}  // namespace fanline::redis
