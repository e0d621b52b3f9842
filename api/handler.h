// One request from its text to its answer: match, read, ask the store, say what came of it.
#pragma once

#include <functional>

#include "api/limits.h"
#include "api/metrics.h"
#include "api/operations/problem.h"
#include "api/store_pool.h"
#include "fanline/bucket.h"

namespace fanline::api {

class Handler {
 public:
  // All outlive the handler, and `stores` all that is asked of it. `clock`: any thread.
  Handler(StorePool& stores, const ShardMap& map, const Limits& limits, Metrics& metrics,
          std::function<Now()> clock)
      : stores_(stores), map_(map), limits_(limits), metrics_(metrics), clock_(std::move(clock)) {}

  using Reply = std::function<void(Response)>;

  // Keeps the calling thread while it uses a store, never while it waits for one: then it replies
  // later, from a thread of the stores. So no more threads are kept than there are stores. Replies
  // once. Any thread.
  void Handle(const Request& request, Reply reply);

  // Counts a request that was answered before it got here: too large, not HTTP.
  void Refused(int status) { metrics_.Answered("other", status, Duration::zero()); }

 private:
  StorePool& stores_;
  const ShardMap& map_;
  const Limits limits_;
  Metrics& metrics_;
  const std::function<Now()> clock_;
};

}  // namespace fanline::api
