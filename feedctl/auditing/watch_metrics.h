// The watch's metrics in a Prometheus registry; findings and failures also go to the log.
// docs/metrics.md lists the metrics for operators. Called from the watch's thread; scraped from
// another.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "audit/watch.h"
#include "daemon/observe/log.h"

namespace fanline::feedctl {

// Both outlive the result.
std::unique_ptr<audit::WatchMetrics> PrometheusWatch(prometheus::Registry& registry,
                                                     const daemon::Log& log);

}  // namespace fanline::feedctl
