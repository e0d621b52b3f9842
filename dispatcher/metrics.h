// What a dispatcher reports about itself, one method per event. The default does nothing and serves
// the simulation; prometheus_metrics.h is the real one.
#pragma once

#include <cstdint>
#include <string>

#include "dispatcher/mode_rule.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/event.h"
#include "fanline/model/ids.h"

namespace fanline::dispatcher {

class Metrics : public ConsumerMetrics {
 public:
  virtual void EventReceived(EventKind) {}
  // `trace_id`: TraceIdOf (fanline/model/trace.h); may be empty here.
  virtual void EventRejected(const std::string& /*reason*/, const std::string& /*trace_id*/) {}
  virtual void EventDone(Duration /*since_published*/) {}
  // An event with a trace whose deliveries are measured.
  virtual void TracedEventDone(const FeedEvent&, const std::string& /*trace_id*/,
                               Duration /*since_published*/) {}
  virtual void TransactionSent(uint64_t /*events*/) {}
  virtual void HintsAppended(uint64_t /*hints*/) {}
  // Ranges that got no hint of an event, since they hold no follower of its author.
  virtual void RangesLeftOut(uint64_t /*ranges*/) {}
  // Followers could not be read after a transaction: its events' hints go to all ranges.
  virtual void FollowersUnread(const Status& /*why*/) {}
  // Reposts that were stored as they were named, since a shard did not say what those posts show.
  virtual void OriginalsUnread(uint64_t /*reposts*/) {}
  // An author was switched automatically, by what the author's posts cost.
  virtual void AuthorSwitched(UserId, const ModeSwitch&, const AuthorWeight&) {}
  // Events held now; `parked` of them wait for shards or ranges that are away or slower than
  // others.
  virtual void Buffered(uint64_t /*events*/, uint64_t /*parked*/) {}
};

}  // namespace fanline::dispatcher
