// fanline_log_retention_seconds{topic}: how long a log keeps its records. A consumer that lags for
// longer loses records that it has not read.
#pragma once

#include <prometheus/registry.h>

#include <string>

namespace fanline::wiring {

// Kafka's setting of a topic, in milliseconds; -1: without limit.
inline constexpr const char* kRetention = "retention.ms";

// One thread.
class RetentionGauge {
 public:
  // `registry` outlives this object.
  RetentionGauge(prometheus::Registry& registry, std::string topic)
      : registry_(registry), topic_(std::move(topic)) {}

  // `value`: of kRetention. No limit is shown as infinity. A value that is not a number is ignored
  // and the last one stays, because only this metric depends on it.
  void Show(const std::string& value);

 private:
  prometheus::Registry& registry_;
  const std::string topic_;
  prometheus::Gauge* gauge_ = nullptr;  // nullptr until the first value is known
};

}  // namespace fanline::wiring
