// What a mirror reports about itself, a method for each event. The do-nothing default serves the
// tests; prometheus_metrics.cpp is the real one.
#pragma once

#include <cstdint>
#include <string>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/bucket.h"

namespace fanline::mirror {

class Metrics : public ConsumerMetrics {
 public:
  // A reverse row is committed. `written`: by this message; else it was stale or repeated.
  virtual void Applied(bool /*written*/, Duration /*since_appended*/) {}
  // Counters found below zero: they are to be recounted.
  virtual void BelowZero(uint64_t /*counters*/) {}
  // A message given to the dead letters.
  virtual void Rejected(const std::string& /*reason*/) {}
  virtual void OldMessageRejected() {}
  // A relation event of an application is in the forward row, or was already.
  virtual void EventDone() {}
  // Relation events held now; `parked` of them wait for shards that are away.
  virtual void Buffered(uint64_t /*events*/, uint64_t /*parked*/) {}
  // Changes left for later, in log1 or at the end of relation-log, because their shard has been
  // away for long.
  virtual void GivenBack(uint64_t /*changes*/) {}
  // Pending rows of a shard that this mirror relays, as counted by its last pass.
  virtual void Pending(Shard /*shard*/, uint64_t /*rows*/, Duration /*oldest*/) {}
};

}  // namespace fanline::mirror
