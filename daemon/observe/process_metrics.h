// What every process says about itself, under the names Prometheus dashboards know.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

namespace fanline::daemon {

// process_resident_memory_bytes, process_cpu_seconds_total, process_start_time_seconds,
// process_open_fds, process_max_fds and fanline_build_info{version}, read from /proc/self at
// every Collect. What cannot be read is left out. Any thread.
class ProcessMetrics : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace fanline::daemon
