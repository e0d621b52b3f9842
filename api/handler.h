// One request from its text to its answer: match, read, ask the store, say what came of it.
// Blocks while the store does; any thread, many at once.
#pragma once

#include <functional>

#include "api/http.h"
#include "api/limits.h"
#include "api/metrics.h"
#include "api/store_pool.h"
#include "fanline/bucket.h"

namespace fanline::api {

class Handler {
 public:
  // All outlive the handler. `clock`: any thread.
  Handler(StorePool& stores, const ShardMap& map, const Limits& limits, Metrics& metrics,
          std::function<Now()> clock)
      : stores_(stores), map_(map), limits_(limits), metrics_(metrics), clock_(std::move(clock)) {}

  Response Handle(const Request& request);

  // Counts a request that was answered before it got here: too large, not HTTP.
  void Refused(int status) { metrics_.Answered("other", status, Duration::zero()); }

 private:
  Response Answer(const Request& request, std::string_view* route);

  StorePool& stores_;
  const ShardMap& map_;
  const Limits limits_;
  Metrics& metrics_;
  const std::function<Now()> clock_;
};

}  // namespace fanline::api
