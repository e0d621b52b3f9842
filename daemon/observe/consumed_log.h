// The metrics of the logs that a consuming daemon reads, under the same names in all daemons.
#pragma once

#include <prometheus/registry.h>

#include <array>
#include <string>
#include <utility>

#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"

namespace fanline::daemon {

// `Metrics` is a service's, derived from ConsumerMetrics; the service adds its own by deriving.
// Thread-safe.
template <class Metrics>
class ConsumedLog : public Metrics {
 public:
  void Parked(const std::string& resource) final { parked_.Increment(resource); }

  void TailLost(int32_t partition, int64_t position, int64_t end) final {
    tails_lost_.Increment();
    log_.Error("a log lost its tail and is read again from before the loss; " + consequence_,
               {{"partition", partition}, {"position", position}, {"end", end}});
  }

  void NothingCommitted(int32_t partition, int64_t low) final {
    log_.Error(
        "the group has no committed offset where records were before: this is its first start on a "
        "topic in use, or its offsets expired while it stood still "
        "(offsets.retention.minutes), or the topic was made anew; it is read from its first "
        "record; " +
            consequence_,
        {{"partition", partition}, {"first_offset", low}});
  }

 protected:
  // `registry` and `log` outlive this object. `consequence`: what follows from a loss.
  ConsumedLog(prometheus::Registry& registry, const Log& log, std::string consequence)
      : registry_(registry), log_(log), consequence_(std::move(consequence)) {}

  // What metrics.h has, in this registry.
  using Labels = prometheus::Labels;
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;
  template <size_t kCount>
  using Counters = std::array<Counter*, kCount>;

  Counter& AddCounter(const char* name, const char* help, const Labels& labels = {}) {
    return daemon::AddCounter(registry_, name, help, labels);
  }
  Gauge& AddGauge(const char* name, const char* help, const Labels& labels = {}) {
    return daemon::AddGauge(registry_, name, help, labels);
  }
  Histogram& AddSeconds(const char* name, const char* help) {
    return AddHistogram(registry_, name, help, SecondsBuckets());
  }
  Histogram& AddSizes(const char* name, const char* help) {
    return AddHistogram(registry_, name, help, SizeBuckets());
  }
  template <size_t kCount>
  auto AddCounters(const char* name, const char* help, const char* label,
                   const char* const (&values)[kCount], const Labels& labels = {}) {
    return daemon::AddCounters(registry_, name, help, label, values, labels);
  }
  template <size_t kCount>
  auto AddSeconds(const char* name, const char* help, const char* label,
                  const char* const (&values)[kCount]) {
    return daemon::AddSeconds(registry_, name, help, label, values);
  }

  // Numbers, or durations in seconds.
  static void Add(Counter& counter, auto by) { counter.Increment(Double(by)); }
  static void Set(Gauge& gauge, auto to) { gauge.Set(Double(to)); }
  static void Observe(Histogram& histogram, auto value) { histogram.Observe(Double(value)); }

  prometheus::Registry& registry_;
  const Log& log_;

 private:
  static double Double(Duration duration) { return Seconds(duration); }
  static double Double(auto number) { return static_cast<double>(number); }

  const std::string consequence_;
  ResourceCounters parked_{registry_, "fanline_parked_total",
                           "Work put off because a resource was away", "kafka"};
  prometheus::Counter& tails_lost_ = AddCounter(
      "fanline_log_tails_lost_total", "Times a log was found to end before what was read of it");
};

}  // namespace fanline::daemon
