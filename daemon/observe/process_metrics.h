// Metrics of every process, under the names that Prometheus dashboards know.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <optional>
#include <vector>

namespace fanline::daemon {

// process_resident_memory_bytes, process_cpu_seconds_total, process_start_time_seconds,
// process_open_fds, process_max_fds and fanline_build_info{version}, read from /proc/self at
// every Collect. What cannot be read is left out. Any thread.
class ProcessMetrics : public prometheus::Collectable {
 public:
  ProcessMetrics();
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  // Read once: the kernel's time of the boot moves when the clock is set, and alerts count starts.
  const std::optional<double> started_;  // seconds since 1970
};

}  // namespace fanline::daemon
