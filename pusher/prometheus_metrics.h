// The pusher's metrics in a Prometheus registry, and the one readiness condition that is the
// pusher's own: "hint_version". docs/metrics.md lists them for operators. Called from the pusher's
// thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "pusher/base/metrics.h"

namespace fanline::pusher {

// All outlive the metrics.
std::unique_ptr<Metrics> PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log,
                                           daemon::Health& health);

}  // namespace fanline::pusher
