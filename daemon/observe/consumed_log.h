// The metrics that every consuming daemon has of the logs it reads, under the same names.
#pragma once

#include <prometheus/registry.h>

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
    log_.Error("a log lost its tail and is read again from its first record; " + consequence_,
               {{"partition", partition}, {"position", position}, {"end", end}});
  }

 protected:
  // `registry` and `log` outlive this object. `consequence`: what follows from a lost tail.
  ConsumedLog(prometheus::Registry& registry, const Log& log, std::string consequence)
      : registry_(registry), log_(log), consequence_(std::move(consequence)) {}

  prometheus::Registry& registry_;
  const Log& log_;

 private:
  const std::string consequence_;
  ResourceCounters parked_{registry_, "fanline_parked_total",
                           "Work put off because a resource was away", "kafka"};
  prometheus::Counter& tails_lost_ =
      AddCounter(registry_, "fanline_log_tails_lost_total",
                 "Times a log was found to end before what was read of it");
};

}  // namespace fanline::daemon
