// The API's metrics in a Prometheus registry, and its log lines. docs/metrics.md lists them for
// operators. Called from any thread.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <map>
#include <string>

#include "api/metrics.h"
#include "daemon/clock.h"
#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"

namespace fanline::api {

class PrometheusMetrics final : public Metrics {
 public:
  // Both outlive this object.
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log);

  void Answered(std::string_view route, int status, Duration took) override;
  void StoreFailed(std::string_view route, const std::string& resource,
                   const std::string& reason) override;
  void CounterBelowZero() override { below_zero_.Increment(); }
  void MirroredInline(InlineResult result) override {
    inline_[static_cast<size_t>(result)]->Increment();
  }
  void Connected(size_t clients) override { connected_.Set(static_cast<double>(clients)); }
  void TurnedAway() override { turned_away_.Increment(); }

 private:
  struct OfRoute {
    std::map<int, prometheus::Counter*> answered;  // by status / 100
    prometheus::Histogram* seconds = nullptr;
  };

  const daemon::Log& log_;
  std::map<std::string, OfRoute, std::less<>> routes_;  // all there are, from the start
  prometheus::Counter& below_zero_;
  std::array<prometheus::Counter*, 3> inline_;  // by InlineResult
  daemon::ResourceCounters failed_;
  prometheus::Gauge& connected_;
  prometheus::Counter& turned_away_;
};

}  // namespace fanline::api
