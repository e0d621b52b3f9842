// The metrics of the logs that a consuming daemon reads, under the same names in all daemons.
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
class ConsumedLog : public RegistryMetrics<Metrics> {
 public:
  void Parked(const std::string& resource) final { parked_.Increment(resource); }

  void TailLost(int32_t partition, int64_t position, int64_t end) final {
    tails_lost_.Increment();
    this->log_.Error("a log lost its tail and is read again from before the loss; " + consequence_,
                     {{"partition", partition}, {"position", position}, {"end", end}});
  }

  void NothingCommitted(int32_t partition, int64_t low) final {
    this->log_.Error(
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
      : RegistryMetrics<Metrics>(registry, log), consequence_(std::move(consequence)) {}

 private:
  const std::string consequence_;
  ResourceCounters parked_{this->registry_, "fanline_parked_total",
                           "Work put off because a resource was away", "kafka"};
  prometheus::Counter& tails_lost_ = this->AddCounter(
      "fanline_log_tails_lost_total", "Times a log was found to end before what was read of it");
};

}  // namespace fanline::daemon
