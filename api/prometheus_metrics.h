// The API's metrics in a Prometheus registry, and its log lines. docs/metrics.md lists them for
// operators. Called from any thread.
#pragma once

#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <map>
#include <string>

#include "api/metrics.h"
#include "api/operations/routes.h"
#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "fanline/base/check.h"
#include "fanline/base/mono_now.h"

namespace fanline::api {

class PrometheusMetrics final : public daemon::RegistryMetrics<Metrics> {
 public:
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log)
      : RegistryMetrics(registry, log) {
    std::vector<std::string> names = {"other"};
    for (const Route& route : Routes()) names.emplace_back(route.name);
    for (const std::string& name : names) {
      OfRoute& of_route = routes_[name];
      for (const int hundreds : {2, 4, 5}) {
        of_route.answered[hundreds] =
            &AddCounter("fanline_api_requests_total", "Requests answered, by route",
                        {{"route", name}, {"status", std::to_string(hundreds) + "xx"}});
      }
      of_route.seconds =
          &AddSeconds("fanline_api_request_seconds", "From a request that was read to its answer",
                      {{"route", name}});
    }
  }

  void Answered(std::string_view route, int status, Duration took) override {
    const auto found = routes_.find(route);
    FANLINE_CHECK(found != routes_.end(), "a route of the table, or other");
    const auto counter = found->second.answered.find(status / 100);
    FANLINE_CHECK(counter != found->second.answered.end(), "a status of the API");
    counter->second->Increment();
    Observe(*found->second.seconds, took);
  }

  void StoreFailed(std::string_view route, const std::string& resource,
                   const std::string& reason) override {
    const std::string label = resource.empty() ? kFault : resource;
    failed_.Increment(label);
    log_.WarnEvery(label, kWarnEvery, SystemNow().mono, "the store did not do a request",
                   {{"route", route}, {"resource", label}, {"reason", reason}});
  }

  void CounterBelowZero() override { below_zero_.Increment(); }
  void MirroredInline(InlineResult result) override {
    inline_[static_cast<size_t>(result)]->Increment();
  }
  void PageServed(PageFacts::State state) override {
    pages_[static_cast<size_t>(state)]->Increment();
  }
  void IncompleteServed() override { incomplete_.Increment(); }
  void BodiesServed(bool available, size_t gone) override {
    bodies_[available ? 0 : 1]->Increment();
    Add(gone_, gone);
  }
  void RebuildEnded(timeline::RebuildResult result) override {
    rebuilds_[static_cast<size_t>(result)]->Increment();
  }
  void RebuildFailed(const std::string& resource, const std::string& reason) override {
    const std::string label = resource.empty() ? kFault : resource;
    rebuilds_[0]->Increment();
    log_.WarnEvery("rebuild " + label, kWarnEvery, SystemNow().mono, "a timeline was not made live",
                   {{"resource", label}, {"reason", reason}});
  }
  void RebuildsWait(size_t readers) override { Set(waiting_, readers); }
  void Connected(size_t clients) override { Set(connected_, clients); }
  void ClosedIdle() override { closed_idle_.Increment(); }
  void TurnedAway() override { turned_away_.Increment(); }
  void Serving(size_t requests, size_t left) override {
    Set(serving_, requests);
    Set(left_, left);
  }
  void Kept(int64_t bytes) override { kept_.Increment(static_cast<double>(bytes)); }
  void Waiting(Pool pool, size_t requests) override {
    Set(*waits_[static_cast<size_t>(pool)], requests);
  }

 private:
  struct OfRoute {
    std::map<int, Counter*> answered;  // by status / 100
    Histogram* seconds = nullptr;
  };

  static constexpr Duration kWarnEvery = std::chrono::seconds(10);
  static constexpr const char* kFault = "none";  // the resource when no shard is to blame

  std::map<std::string, OfRoute, std::less<>> routes_;  // all routes, from the start
  Counter& below_zero_ = AddCounter("fanline_rel_counter_negative_total",
                                    "Changes that found a counter below zero: it had drifted");
  Counters<3> inline_ = AddCounters(  // by InlineResult
      "fanline_api_inline_mirror_total", "Reverse rows written at once, in the mode sync", "result",
      {"done", "late", "failed"});
  Counters<3> pages_ =  // by PageFacts::State
      AddCounters("fanline_api_home_pages_total", "Pages of home timelines", "state",
                  PageFacts::kStates);
  Counter& incomplete_ =
      AddCounter("fanline_api_incomplete_pages_total",
                 "Pages and counts that may lack posts: a shard is away, or the range lags");
  Counters<2> bodies_ = AddCounters("fanline_api_body_pages_total", "Pages asked for with bodies",
                                    "bodies", {"complete", "unavailable"});
  Counter& gone_ = AddCounter("fanline_api_bodies_gone_total",
                              "Posts left out of pages: the application's table has them no more");
  Counters<7> rebuilds_ = AddCounters(  // by RebuildResult; the first: not done
      "fanline_api_rebuilds_total", "Timelines made live behind an answer, or not", "result",
      {"failed", "rebuilt", "already_live", "busy", "refused", "gave_up", "not_admitted"});
  Gauge& waiting_ =
      AddGauge("fanline_api_rebuilds_waiting", "Readers whose timelines wait to be made live");
  daemon::ResourceCounters failed_{registry_, "fanline_api_store_failures_total",
                                   "Calls of requests that a store did not do", kFault};
  Gauge& connected_ = AddGauge("fanline_api_connections", "Clients connected");
  Counter& closed_idle_ = AddCounter("fanline_api_connections_closed_idle_total",
                                     "Connections closed because a client was one too many");
  Counter& turned_away_ = AddCounter("fanline_api_connections_refused_total",
                                     "Clients that were one too many, with no connection idle");
  Gauge& serving_ =
      AddGauge("fanline_api_requests_open", "Requests that were read and are not answered yet");
  Gauge& left_ = AddGauge("fanline_api_requests_left",
                          "Of the open requests, those whose clients have closed their side");
  Gauge& kept_ =
      AddGauge("fanline_api_unread_bytes", "Answers that their clients have not taken yet");
  std::array<Gauge*, 4> waits_ = AddForEach(  // by Pool
      "store", {"relations", "timelines", "truth", "bodies"}, [this](const auto& labels) -> auto& {
        return AddGauge("fanline_api_requests_waiting",
                        "Of the open requests, those that wait for a store", labels);
      });
};

}  // namespace fanline::api
