// Serves a request: matches its route, parses it, and has it answered by the shards, as a page or
// by Kafka. Also turns the HTTP server's refusals into problems of the API.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/limits.h"
#include "api/metrics.h"
#include "api/operations/exchange.h"
#include "api/pages.h"
#include "api/publisher.h"
#include "http/limits.h"
#include "http/service.h"

namespace fanline::api {

// The limits that the server is made with.
http::Limits HttpLimits(const Limits& limits);

class Handler final : public http::Service {
 public:
  // All outlive the handler and the requests it was given. `publisher` may be null: requests to
  // publish are then refused. `clock`: any thread. `allowed_origins`: whose pages may change
  // something (door.h).
  Handler(Exchanges& relations, Pages& pages, Publisher* publisher, Metrics& metrics,
          std::function<Now()> clock, std::vector<std::string> allowed_origins = {})
      : relations_(relations),
        pages_(pages),
        publisher_(publisher),
        metrics_(metrics),
        clock_(std::move(clock)),
        allowed_origins_(std::move(allowed_origins)) {}

  // Blocks the calling thread only while a page is read from Redis. All else is answered later, by
  // the thread that brings a store's reply.
  void Serve(http::Request request, Answer answer) override;

  // Turns the refusal into a problem of the API, and counts it.
  http::Response Refuse(int status, const std::string& detail) override;

  void Connected(size_t clients) override { metrics_.Connected(clients); }
  void ClosedIdle() override { metrics_.ClosedIdle(); }
  void TurnedAway() override { metrics_.TurnedAway(); }
  void Serving(size_t requests, size_t left) override { metrics_.Serving(requests, left); }
  void Kept(int64_t bytes) override {
    metrics_.Kept(bytes);
    pages_.Kept(bytes);
  }

 private:
  Exchanges& relations_;
  Pages& pages_;
  Publisher* const publisher_;
  Metrics& metrics_;
  const std::function<Now()> clock_;
  const std::vector<std::string> allowed_origins_;
};

}  // namespace fanline::api
