// The mirror's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the mirror's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "daemon/observe/log.h"
#include "mirror/metrics.h"

namespace fanline::mirror {

// Both outlive what is answered.
std::unique_ptr<Metrics> PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log);

}  // namespace fanline::mirror
