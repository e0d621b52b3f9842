// Metrics of every process, under the names that Prometheus dashboards know.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

#include "fanline/base/mono_now.h"

namespace fanline::daemon {

// process_resident_memory_bytes, process_cpu_seconds_total, process_start_time_seconds,
// process_open_fds, process_max_fds and fanline_build_info{version}, read at every Collect. What
// cannot be read is left out. Any thread.
class ProcessMetrics : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  // Seconds since 1970. It stays when the clock is set, since alerts count starts.
  const double started_ = static_cast<double>(SystemNow().unix_ms) / 1'000;
};

}  // namespace fanline::daemon
