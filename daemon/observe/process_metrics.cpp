#include "daemon/observe/process_metrics.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace fanline::daemon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::optional<double> CpuSeconds() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::optional<double> ResidentBytes() {
  std::ifstream file("/proc/self/statm");  // in pages: all, resident, ...
  double all = 0, resident = 0;
  if (!(file >> all >> resident)) return std::nullopt;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Linux 6.2 and newer give their number as the size of the directory. Listing 10,000 connections
// takes 10 ms, at each scrape.
std::optional<double> OpenFds() {
  struct stat directory {};
  if (stat("/proc/self/fd", &directory) == 0 && directory.st_size > 0) {
    return static_cast<double>(directory.st_size);
  }
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; at != end;
       at.increment(error)) {
    ++count;
  }
  if (error) return std::nullopt;
  return count - 1;  // one is the directory being listed
}

std::optional<double> MaxFds() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

void Add(std::vector<MetricFamily>& families, const char* name, const char* help, MetricType type,
         std::optional<double> value, std::vector<ClientMetric::Label> labels = {}) {
  if (!value) return;
  ClientMetric metric;
  metric.label = std::move(labels);
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
  families.push_back({name, help, type, {metric}});
}

}  // namespace

std::vector<MetricFamily> ProcessMetrics(double started) {
  std::vector<MetricFamily> families;
  Add(families, "process_resident_memory_bytes", "Memory held in RAM.", MetricType::Gauge,
      ResidentBytes());
  Add(families, "process_cpu_seconds_total", "CPU time used, user and system.", MetricType::Counter,
      CpuSeconds());
  Add(families, "process_start_time_seconds", "When the process began, since 1970.",
      MetricType::Gauge, started);
  Add(families, "process_open_fds", "Open file descriptors.", MetricType::Gauge, OpenFds());
  Add(families, "process_max_fds", "Most file descriptors it may open.", MetricType::Gauge,
      MaxFds());
  Add(families, "fanline_build_info", "1, labelled with the version.", MetricType::Gauge, 1,
      {{"version", FANLINE_VERSION}});
  return families;
}

}  // namespace fanline::daemon
