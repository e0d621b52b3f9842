// The API's metrics in a Prometheus registry, and its log lines. docs/metrics.md lists them for
// operators. Called from any thread.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "api/metrics.h"
#include "daemon/observe/log.h"

namespace fanline::api {

// Both outlive the result.
std::unique_ptr<Metrics> PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log);

}  // namespace fanline::api
