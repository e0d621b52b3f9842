// What the API tells about itself, called like verbs, from any thread. The do-nothing default
// serves tests; prometheus_metrics.h is the real one.
#pragma once

#include <string>
#include <string_view>

#include "fanline/base/time.h"

namespace fanline::api {

// What came of a reverse row written at once: in time, too late to be waited for, or refused.
enum class InlineResult { kDone, kLate, kFailed };

class Metrics {
 public:
  virtual ~Metrics() = default;

  // `route`: of the routes, or "other" for a path that nobody serves.
  virtual void Answered(std::string_view /*route*/, int /*status*/, Duration /*took*/) {}
  // The reason of a 500 or 503, for the operator; clients are not told.
  virtual void StoreFailed(std::string_view /*route*/, const std::string& /*resource*/,
                           const std::string& /*reason*/) {}
  // A change took a counter below zero, so it had drifted before.
  virtual void CounterBelowZero() {}
  virtual void MirroredInline(InlineResult) {}
  // Clients connected, whenever that changes; and one that was one too many.
  virtual void Connected(size_t /*clients*/) {}
  virtual void TurnedAway() {}
};

}  // namespace fanline::api
