#include "api/prometheus_metrics.h"

#include <chrono>

#include "api/operations/routes.h"
#include "daemon/observe/metrics.h"
#include "fanline/base/check.h"

namespace fanline::api {
namespace {

using daemon::AddCounter;
using daemon::AddGauge;
using daemon::AddHistogram;
using daemon::SecondsBuckets;

constexpr Duration kWarnEvery = std::chrono::seconds(10);
constexpr const char* kFault = "none";  // the resource when no shard is to blame

std::array<prometheus::Counter*, 3> InlineCounters(prometheus::Registry& registry) {
  std::array<prometheus::Counter*, 3> counters{};
  const char* const results[] = {"done", "late", "failed"};  // by InlineResult
  for (size_t i = 0; i < counters.size(); ++i) {
    counters[i] =
        &AddCounter(registry, "fanline_api_inline_mirror_total",
                    "Reverse rows written at once, in the mode sync", {{"result", results[i]}});
  }
  return counters;
}

}  // namespace

PrometheusMetrics::PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log)
    : log_(log),
      below_zero_(AddCounter(registry, "fanline_rel_counter_negative_total",
                             "Changes that found a counter below zero: it had drifted")),
      inline_(InlineCounters(registry)),
      failed_(registry, "fanline_api_store_failures_total", "Requests the store did not do",
              kFault),
      connected_(AddGauge(registry, "fanline_api_connections", "Clients connected")),
      turned_away_(AddCounter(registry, "fanline_api_connections_refused_total",
                              "Clients that were one too many")) {
  std::vector<std::string> names = {"other"};
  for (const Route& route : Routes()) names.emplace_back(route.name);
  for (const std::string& name : names) {
    OfRoute& of_route = routes_[name];
    for (const int hundreds : {2, 4, 5}) {
      of_route.answered[hundreds] =
          &AddCounter(registry, "fanline_api_requests_total", "Requests answered, by route",
                      {{"route", name}, {"status", std::to_string(hundreds) + "xx"}});
    }
    of_route.seconds = &AddHistogram(registry, "fanline_api_request_seconds",
                                     "From a request that was read to its answer", SecondsBuckets(),
                                     {{"route", name}});
  }
}

void PrometheusMetrics::Answered(std::string_view route, int status, Duration took) {
  const auto found = routes_.find(route);
  FANLINE_CHECK(found != routes_.end(), "a route of the table, or other");
  const auto counter = found->second.answered.find(status / 100);
  FANLINE_CHECK(counter != found->second.answered.end(), "a status of the API");
  counter->second->Increment();
  found->second.seconds->Observe(std::chrono::duration<double>(took).count());
}

void PrometheusMetrics::StoreFailed(std::string_view route, const std::string& resource,
                                    const std::string& reason) {
  const std::string label = resource.empty() ? kFault : resource;
  failed_.Increment(label);
  log_.WarnEvery(label, kWarnEvery, daemon::SystemNow().mono, "the store did not do a request",
                 {{"route", route}, {"resource", label}, {"reason", reason}});
}

}  // namespace fanline::api
