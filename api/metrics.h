// The API's metrics, as verbs to be called from any thread. The default does nothing, for tests;
// prometheus_metrics.h is the real one.
#pragma once

#include <string>
#include <string_view>

#include "api/operations/call.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"

namespace fanline::api {

// The outcome of a reverse row written inline: in time, too late to be waited for, or refused.
enum class InlineResult { kDone, kLate, kFailed };

// The stores that requests wait for.
enum class Pool { kRelations, kTimelines, kTruth, kBodies };

class Metrics {
 public:
  virtual ~Metrics() = default;

  // `route`: its name, or "other" for a path without a route.
  virtual void Answered(std::string_view /*route*/, int /*status*/, Duration /*took*/) {}
  // What came of a request to a store. One that has too much to do has not failed.
  void Note(std::string_view route, const Status& status) {
    if (status.done() || status.cause == Cause::kOverloaded) return;
    StoreFailed(route, status.resource, status.message);
  }
  // The reason of a 500 or 503, for the operator; clients are not told.
  virtual void StoreFailed(std::string_view /*route*/, const std::string& /*resource*/,
                           const std::string& /*reason*/) {}
  // A change took a counter below zero, so it had drifted before.
  virtual void CounterBelowZero() {}
  virtual void MirroredInline(InlineResult) {}
  virtual void PageServed(PageFacts::State) {}
  // A page or a count that may lack posts of authors whose shards are away.
  virtual void IncompleteServed() {}
  // A page that was asked for with bodies.
  virtual void BodiesServed(bool /*available*/, size_t /*gone*/) {}
  // A timeline was made live behind an answer, or was not (reason: for the operator).
  virtual void RebuildEnded(timeline::RebuildResult) {}
  virtual void RebuildFailed(const std::string& /*resource*/, const std::string& /*reason*/) {}
  virtual void RebuildsWait(size_t /*readers*/) {}
  // As those of http::Service.
  virtual void Connected(size_t /*clients*/) {}
  virtual void ClosedIdle() {}
  virtual void TurnedAway() {}
  virtual void Serving(size_t /*requests*/, size_t /*left*/) {}
  virtual void Kept(int64_t /*bytes*/) {}
  // Requests that wait for this store. On the main loop's thread, many times a second.
  virtual void Waiting(Pool, size_t /*requests*/) {}
};

}  // namespace fanline::api
