// Makes metrics of prometheus-cpp by the rules of the house: names begin with fanline_ and end
// in their base unit (_seconds, _bytes; counters _total), buckets come from two lists.
//
// Each call looks its family up in the registry: call it once, keep the reference, which lives
// as long as the registry. The metrics themselves are thread-safe and lock-free.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

#include <map>
#include <mutex>
#include <string>

namespace fanline::daemon {

// Only ever grows. Name: fanline_..._total (checked).
prometheus::Counter& AddCounter(prometheus::Registry& registry, const std::string& name,
                                const std::string& help, const prometheus::Labels& labels = {});

// Goes up and down. Name: fanline_... (checked).
prometheus::Gauge& AddGauge(prometheus::Registry& registry, const std::string& name,
                            const std::string& help, const prometheus::Labels& labels = {});

// A distribution. Name: fanline_..., with _seconds for SecondsBuckets (checked).
prometheus::Histogram& AddHistogram(prometheus::Registry& registry, const std::string& name,
                                    const std::string& help,
                                    const prometheus::Histogram::BucketBoundaries& buckets,
                                    const prometheus::Labels& labels = {});

// Counters told apart by the label "resource", which is made when a resource is first counted.
// `first` is there from the start, so that the family is found before anything went wrong.
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

// fanline_parked_total, of every daemon that consumes.
ResourceCounters AddParked(prometheus::Registry& registry);

// fanline_log_tails_lost_total.
prometheus::Counter& AddTailsLost(prometheus::Registry& registry);

// 0.5 ms .. 60 s, about three to a decade: latencies.
const prometheus::Histogram::BucketBoundaries& SecondsBuckets();
// 1 .. 10,000, three to a decade: batch sizes, fan-outs.
const prometheus::Histogram::BucketBoundaries& SizeBuckets();

}  // namespace fanline::daemon
