// fanline_log_retention_seconds{topic}: how long a log keeps its records. A consumer that lags for
// longer loses records that it has not read.
#pragma once

#include <prometheus/registry.h>

#include <string>

namespace fanline::wiring {

// Kafka's setting of a topic, in milliseconds; -1: without limit.
inline constexpr const char* kRetention = "retention.ms";

// `value`: of kRetention. No limit is shown as infinity. A value that is not a number is ignored
// and the last one stays, because only this metric depends on it.
void ShowRetention(prometheus::Registry& registry, const std::string& topic,
                   const std::string& value);

}  // namespace fanline::wiring
