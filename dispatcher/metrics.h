// What a dispatcher reports about itself, a method for each event. The do-nothing default serves
// the simulation; prometheus_metrics.cpp is the real one.
#pragma once

#include <cstdint>
#include <string>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/event.h"

namespace fanline::dispatcher {

class Metrics : public ConsumerMetrics {
 public:
  virtual void EventReceived(EventKind) {}
  virtual void EventRejected(const std::string& /*reason*/) {}
  virtual void EventDone(Duration /*since_published*/) {}
  virtual void TransactionSent(uint64_t /*events*/) {}
  virtual void HintsAppended(uint64_t /*hints*/) {}
  // Ranges of an event that got no hint, as they hold no follower of its author.
  virtual void RangesLeftOut(uint64_t /*ranges*/) {}
  // Followers could not be read after a transaction: its events' hints go to all ranges.
  virtual void FollowersUnread(const Status& /*why*/) {}
  // Events held now; `parked` of them wait for shards that are away.
  virtual void Buffered(uint64_t /*events*/, uint64_t /*parked*/) {}
};

}  // namespace fanline::dispatcher
