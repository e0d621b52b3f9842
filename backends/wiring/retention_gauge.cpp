#include "backends/wiring/retention_gauge.h"

#include <limits>

#include "daemon/observe/metrics.h"
#include "fanline/base/number.h"

namespace fanline::wiring {

void ShowRetention(prometheus::Registry& registry, const std::string& topic,
                   const std::string& value) {
  const auto milliseconds = ParseNumber<int64_t>(value);
  if (!milliseconds) return;
  daemon::AddGauge(registry, "fanline_log_retention_seconds",
                   "How long the log keeps its records (retention.ms)", {{"topic", topic}})
      .Set(*milliseconds < 0 ? std::numeric_limits<double>::infinity()
                             : static_cast<double>(*milliseconds) / 1'000);
}

}  // namespace fanline::wiring
