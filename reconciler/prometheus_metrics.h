// The reconciler's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the reconciler's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "daemon/observe/log.h"
#include "reconciler/metrics.h"

namespace fanline::reconciler {

// Both outlive what is answered.
std::unique_ptr<Metrics> PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log);

}  // namespace fanline::reconciler
