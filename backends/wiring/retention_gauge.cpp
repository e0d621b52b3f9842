#include "backends/wiring/retention_gauge.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include "daemon/observe/metrics.h"

namespace fanline::wiring {

void RetentionGauge::Show(const std::string& value) {
  int64_t milliseconds = 0;
  const char* const end = value.data() + value.size();
  const auto [parsed, error] = std::from_chars(value.data(), end, milliseconds);
  if (error != std::errc() || parsed != end) return;
  if (gauge_ == nullptr) {
    gauge_ =
        &daemon::AddGauge(registry_, "fanline_log_retention_seconds",
                          "How long the log keeps its records (retention.ms)", {{"topic", topic_}});
  }
  gauge_->Set(milliseconds < 0 ? std::numeric_limits<double>::infinity()
                               : static_cast<double>(milliseconds) / 1'000);
}

}  // namespace fanline::wiring
