// Makes metrics of prometheus-cpp by our rules: names begin with fanline_ and end in their base
// unit (_seconds, _bytes; counters _total), buckets come from three lists.
//
// Each call looks its family up in the registry: call it once, keep the reference, which lives
// as long as the registry. The metrics themselves are thread-safe and lock-free.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

#include <array>
#include <map>
#include <mutex>
#include <string>

#include "fanline/base/time.h"

namespace fanline::daemon {

class Log;

// Only ever grows. Name: fanline_..._total (checked).
prometheus::Counter& AddCounter(prometheus::Registry& registry, const std::string& name,
                                const std::string& help, const prometheus::Labels& labels = {});

// Goes up and down. Name: fanline_... (checked).
prometheus::Gauge& AddGauge(prometheus::Registry& registry, const std::string& name,
                            const std::string& help, const prometheus::Labels& labels = {});

// A distribution. Name: fanline_..., with _seconds for all but SizeBuckets (checked).
prometheus::Histogram& AddHistogram(prometheus::Registry& registry, const std::string& name,
                                    const std::string& help,
                                    const prometheus::Histogram::BucketBoundaries& buckets,
                                    const prometheus::Labels& labels = {});

// 0.5 ms .. 60 s: latencies. About three to a decade, and closer where moderate load puts most
// deliveries (docs/decisions/0018-batches-that-grow-with-load.md): a wide bucket makes a p99 a
// guess.
const prometheus::Histogram::BucketBoundaries& SecondsBuckets();

// 1 s .. 7 d: ages of what is found late.
const prometheus::Histogram::BucketBoundaries& AgeBuckets();

// Counters told apart by the label "resource", each made when its resource is first counted.
// `first` exists from the start, so that the family is exported before anything goes wrong.
// Thread-safe.
class ResourceCounters {
 public:
  // Name: as of AddCounter. `registry` outlives this object.
  ResourceCounters(prometheus::Registry& registry, std::string name, std::string help,
                   const std::string& first);

  void Increment(const std::string& resource);

 private:
  prometheus::Counter& Of(const std::string& resource);

  prometheus::Registry& registry_;
  const std::string name_;
  const std::string help_;
  std::mutex mutex_;
  std::map<std::string, prometheus::Counter*> counters_;  // guarded by mutex_
};

// The unit of time in metrics.
inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// 1 .. 10,000, three to a decade: batch sizes, fan-outs.
const prometheus::Histogram::BucketBoundaries& SizeBuckets();

// The base of a service's real metrics: `Metrics` is their interface, a verb for each event.
template <class Metrics>
class RegistryMetrics : public Metrics {
 protected:
  using Labels = prometheus::Labels;
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;
  template <size_t kCount>
  using Counters = std::array<Counter*, kCount>;

  // Both outlive this object.
  RegistryMetrics(prometheus::Registry& registry, const Log& log)
      : registry_(registry), log_(log) {}

  Counter& AddCounter(const char* name, const char* help, const Labels& labels = {}) {
    return daemon::AddCounter(registry_, name, help, labels);
  }
  Gauge& AddGauge(const char* name, const char* help, const Labels& labels = {}) {
    return daemon::AddGauge(registry_, name, help, labels);
  }
  Histogram& AddSeconds(const char* name, const char* help, const Labels& labels = {}) {
    return AddHistogram(registry_, name, help, SecondsBuckets(), labels);
  }
  Histogram& AddSizes(const char* name, const char* help) {
    return AddHistogram(registry_, name, help, SizeBuckets());
  }
  // One metric of a family for each value of a label, in their order. `labels` are common to all.
  template <size_t kCount, class AddOne>
  static auto AddForEach(const char* label, const char* const (&values)[kCount], AddOne add,
                         Labels labels = {}) {
    std::array<decltype(&add(labels)), kCount> metrics{};
    for (size_t i = 0; i < kCount; ++i) {
      labels[label] = values[i];
      metrics[i] = &add(labels);
    }
    return metrics;
  }
  template <size_t kCount>
  auto AddCounters(const char* name, const char* help, const char* label,
                   const char* const (&values)[kCount], const Labels& labels = {}) {
    const auto add = [&](const Labels& all) -> Counter& { return AddCounter(name, help, all); };
    return AddForEach(label, values, add, labels);
  }
  template <size_t kCount>
  auto AddSeconds(const char* name, const char* help, const char* label,
                  const char* const (&values)[kCount]) {
    const auto add = [&](const Labels& all) -> Histogram& { return AddSeconds(name, help, all); };
    return AddForEach(label, values, add);
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
};

}  // namespace fanline::daemon
