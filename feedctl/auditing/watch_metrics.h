// The watch's metrics in a Prometheus registry, what it found in the log, and what is away in
// /readyz. docs/metrics.md lists the metrics for operators. Called from the watch's thread; scraped
// from another.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "audit/watch.h"
#include "daemon/observe/health.h"
#include "daemon/observe/log.h"

namespace fanline::feedctl {

// All outlive what is answered.
std::unique_ptr<audit::WatchMetrics> PrometheusWatch(prometheus::Registry& registry,
                                                     const daemon::Log& log,
                                                     daemon::Health& health);

}  // namespace fanline::feedctl
