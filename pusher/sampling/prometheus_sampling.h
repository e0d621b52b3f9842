// The sampler's metrics in a Prometheus registry, and what it found in the log. docs/metrics.md
// lists them for operators. Called from the sampler's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "audit/sampler.h"
#include "daemon/observe/log.h"

namespace fanline::pusher {

// Both outlive what is answered.
std::unique_ptr<audit::SampleMetrics> PrometheusSampling(prometheus::Registry& registry,
                                                         const daemon::Log& log);

}  // namespace fanline::pusher
