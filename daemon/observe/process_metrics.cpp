#include "daemon/observe/process_metrics.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace fanline::daemon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Fields of /proc/self/stat, counted from the state, which follows the name in parentheses (a
// name may hold blanks): proc(5) numbers the state 3.
struct ProcStat {
  double cpu_seconds = 0;
  double start_since_boot_seconds = 0;
  double resident_bytes = 0;
};

std::optional<ProcStat> ReadProcStat() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const size_t name_end = text.rfind(')');
  if (name_end == text.npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  std::vector<double> fields{0, 0, 0};  // so that an index is proc(5)'s number
  std::string state;
  rest >> state;
  fields.push_back(0);
  for (double value = 0; rest >> value;) fields.push_back(value);
  if (fields.size() <= 24) return std::nullopt;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return ProcStat{(fields[14] + fields[15]) / ticks, fields[22] / ticks,
                  fields[24] * static_cast<double>(sysconf(_SC_PAGESIZE))};
}

std::optional<double> BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<double> StartTime() {
  const auto stat = ReadProcStat();
  const auto boot = BootTime();
  if (!stat || !boot) return std::nullopt;
  return *boot + stat->start_since_boot_seconds;
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

ProcessMetrics::ProcessMetrics() : started_(StartTime()) {}

std::vector<MetricFamily> ProcessMetrics::Collect() const {
  std::vector<MetricFamily> families;
  if (const auto stat = ReadProcStat()) {
    Add(families, "process_resident_memory_bytes", "Memory held in RAM.", MetricType::Gauge,
        stat->resident_bytes);
    Add(families, "process_cpu_seconds_total", "CPU time used, user and system.",
        MetricType::Counter, stat->cpu_seconds);
    Add(families, "process_start_time_seconds", "When the process began, since 1970.",
        MetricType::Gauge, started_);
  }
  Add(families, "process_open_fds", "Open file descriptors.", MetricType::Gauge, OpenFds());
  Add(families, "process_max_fds", "Most file descriptors it may open.", MetricType::Gauge,
      MaxFds());
  Add(families, "fanline_build_info", "1, labelled with the version.", MetricType::Gauge, 1,
      {{"version", FANLINE_VERSION}});
  return families;
}

}  // namespace fanline::daemon
