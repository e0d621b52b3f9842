// The handler behind the server: the API's answers, and its words for what the server refuses.
#pragma once

#include <string>

#include "api/handler.h"
#include "api/limits.h"
#include "api/metrics.h"
#include "http/limits.h"
#include "http/service.h"

namespace fanline::api {

// What the server is to be made with.
http::Limits HttpLimits(const Limits& limits);

class HttpService final : public http::Service {
 public:
  // Both outlive it.
  HttpService(Handler& handler, Metrics& metrics) : handler_(handler), metrics_(metrics) {}

  void Serve(http::Request request, Answer answer) override {
    handler_.Handle(request, std::move(answer));
  }
  http::Response Refuse(int status, const std::string& detail) override;
  void Connected(size_t clients) override { metrics_.Connected(clients); }
  void TurnedAway() override { metrics_.TurnedAway(); }

 private:
  Handler& handler_;
  Metrics& metrics_;
};

}  // namespace fanline::api
