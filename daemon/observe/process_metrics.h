// Metrics of every process, under the names that Prometheus dashboards know.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace fanline::daemon {

// process_resident_memory_bytes, process_cpu_seconds_total, process_start_time_seconds,
// process_open_fds, process_max_fds and fanline_build_info{version}, as they are now. What cannot
// be read is left out. `started`: in seconds since 1970. Any thread.
std::vector<prometheus::MetricFamily> ProcessMetrics(double started);

}  // namespace fanline::daemon
