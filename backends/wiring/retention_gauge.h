// fanline_log_retention_seconds{topic}: how long a log keeps its records, so that a lag can be
// compared with it. A consumer that lags for longer loses what it has not read.
#pragma once

#include <prometheus/registry.h>

#include <string>

namespace fanline::wiring {

// Kafka's setting of a topic, in milliseconds; -1: for ever.
inline constexpr const char* kRetention = "retention.ms";

// One thread.
class RetentionGauge {
 public:
  // `registry` outlives this object.
  RetentionGauge(prometheus::Registry& registry, std::string topic)
      : registry_(registry), topic_(std::move(topic)) {}

  // `value`: of kRetention. For ever is infinite. What is no number is not shown, and what was
  // shown before stays: nothing but this metric depends on it.
  void Show(const std::string& value);

 private:
  prometheus::Registry& registry_;
  const std::string topic_;
  prometheus::Gauge* gauge_ = nullptr;  // none before the first value is known
};

}  // namespace fanline::wiring
