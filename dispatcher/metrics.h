// What a dispatcher tells about itself, called like verbs. The do-nothing default serves the
// simulation; prometheus_metrics.h is the real one.
#pragma once

#include <cstdint>
#include <string>

#include "fanline/event.h"
#include "fanline/time.h"

namespace fanline::dispatcher {

class Metrics {
 public:
  virtual ~Metrics() = default;

  virtual void EventReceived(EventKind) {}
  virtual void EventRejected(const std::string& /*reason*/) {}
  virtual void EventDone(Duration /*since_published*/) {}
  virtual void TransactionSent(uint64_t /*events*/) {}
  virtual void HintsAppended(uint64_t /*hints*/) {}
  virtual void Parked(const std::string& /*resource*/) {}
  // Events between these offsets are gone from the log: it was cut before they were read.
  virtual void LogGap(int32_t /*partition*/, int64_t /*from*/, int64_t /*to*/) {}
  // The log of this partition ends before what was read of it: it lost its tail, and perhaps
  // records nobody has read. It is read again from its first record.
  virtual void TailLost(int32_t /*partition*/, int64_t /*position*/, int64_t /*end*/) {}
  // `parked`: of these, what waits for shards that are away.
  virtual void Buffered(uint64_t /*events*/, uint64_t /*parked*/) {}
};

}  // namespace fanline::dispatcher
