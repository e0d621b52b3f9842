// What the server serves: a request from its text to its answer. It is matched, read, the store is
// asked, and what came of it is said. The server's own refusals get the API's words here, too.
#pragma once

#include <functional>
#include <string>

#include "api/limits.h"
#include "api/metrics.h"
#include "api/store_pool.h"
#include "fanline/model/bucket.h"
#include "http/limits.h"
#include "http/service.h"

namespace fanline::api {

// What the server is to be made with.
http::Limits HttpLimits(const Limits& limits);

class Handler final : public http::Service {
 public:
  // All outlive the handler, and `stores` all that is asked of it. `clock`: any thread.
  Handler(StorePool& stores, const ShardMap& map, const Limits& limits, Metrics& metrics,
          std::function<Now()> clock)
      : stores_(stores), map_(map), limits_(limits), metrics_(metrics), clock_(std::move(clock)) {}

  // Keeps the calling thread while it uses a store, never while it waits for one: then it replies
  // later, from a thread of the stores. So no more threads are kept than there are stores.
  void Serve(http::Request request, Answer answer) override;

  // In the API's words; counted.
  http::Response Refuse(int status, const std::string& detail) override;

  void Connected(size_t clients) override { metrics_.Connected(clients); }
  void TurnedAway() override { metrics_.TurnedAway(); }

 private:
  StorePool& stores_;
  const ShardMap& map_;
  const Limits limits_;
  Metrics& metrics_;
  const std::function<Now()> clock_;
};

}  // namespace fanline::api
