// The dispatcher's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the dispatcher's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "daemon/observe/log.h"
#include "dispatcher/metrics.h"

namespace fanline::dispatcher {

// Both outlive the metrics.
std::unique_ptr<Metrics> PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log);

}  // namespace fanline::dispatcher
