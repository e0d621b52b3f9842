#include "daemon/observe/metrics.h"

#include <prometheus/family.h>

#include <utility>

#include "fanline/base/check.h"

namespace fanline::daemon {

using prometheus::Histogram;
using prometheus::Labels;
using prometheus::Registry;

prometheus::Counter& AddCounter(Registry& registry, const std::string& name,
                                const std::string& help, const Labels& labels) {
  FANLINE_CHECK(name.starts_with("fanline_") && name.ends_with("_total"), "a counter's name");
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Gauge& AddGauge(Registry& registry, const std::string& name, const std::string& help,
                            const Labels& labels) {
  FANLINE_CHECK(name.starts_with("fanline_") && !name.ends_with("_total"), "a gauge's name");
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

Histogram& AddHistogram(Registry& registry, const std::string& name, const std::string& help,
                        const Histogram::BucketBoundaries& buckets, const Labels& labels) {
  const bool seconds = &buckets != &SizeBuckets();
  FANLINE_CHECK(name.starts_with("fanline_") && name.ends_with("_seconds") == seconds,
                "a histogram's name");
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(labels, buckets);
}

ResourceCounters::ResourceCounters(Registry& registry, std::string name, std::string help,
                                   const std::string& first)
    : registry_(registry), name_(std::move(name)), help_(std::move(help)) {
  Of(first);
}

void ResourceCounters::Increment(const std::string& resource) { Of(resource).Increment(); }

prometheus::Counter& ResourceCounters::Of(const std::string& resource) {
  const std::lock_guard lock(mutex_);
  prometheus::Counter*& counter = counters_[resource];
  if (counter == nullptr) {
    counter = &AddCounter(registry_, name_, help_, {{"resource", resource}});
  }
  return *counter;
}

const Histogram::BucketBoundaries& SecondsBuckets() {
  static const Histogram::BucketBoundaries buckets{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                   0.1,    0.15,  0.2,    0.25,  0.3,  0.4,   0.5,
                                                   0.75,   1,     2.5,    5,     10,   30,    60};
  return buckets;
}

const Histogram::BucketBoundaries& AgeBuckets() {
  static const Histogram::BucketBoundaries buckets{1,    3,    10,    30,    100,   300,
                                                   1000, 3600, 14400, 43200, 86400, 604800};
  return buckets;
}

const Histogram::BucketBoundaries& SizeBuckets() {
  static const Histogram::BucketBoundaries buckets{1,   2,   5,    10,   20,   50,   100,
                                                   200, 500, 1000, 2000, 5000, 10000};
  return buckets;
}

}  // namespace fanline::daemon
