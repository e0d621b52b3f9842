// What a mirror reports about itself, one method per event. The default does nothing and serves
// the tests; prometheus_metrics.h is the real one.
#pragma once

#include <cstdint>
#include <string>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/bucket.h"

namespace fanline::mirror {

class Metrics : public ConsumerMetrics {
 public:
  // A reverse row is committed. `written`: by this change; else it was stale or repeated.
  virtual void Applied(bool /*written*/, Duration /*since_changed*/) {}
  // Counters found below zero: they are to be recounted.
  virtual void BelowZero(uint64_t /*counters*/) {}
  // A change or an event given to the dead letters.
  virtual void Rejected(const std::string& /*reason*/) {}
  virtual void OldMessageRejected() {}
  // A relation event of an application is in the forward row, or was already.
  virtual void EventDone() {}
  // Relation events held now; `parked` of them wait for shards that are away.
  virtual void Buffered(uint64_t /*events*/, uint64_t /*parked*/) {}
  // Whether the bell of a forward shard tells of its new rows. Called when that changes, and when
  // the shard becomes this mirror's.
  virtual void Bell(Shard /*forward*/, bool /*rings*/) {}
  // A bell came down, or could not be hung up: rows of that time are found by polls.
  virtual void BellLost(Shard /*forward*/) {}
  // A bell was taken down for a while, since it did not tell of a row that a poll had found.
  virtual void BellSilent(Shard /*forward*/) {}
  // A row that a bell told of was read, so long after it was written.
  virtual void HeardRow(Duration /*since_written*/) {}
  // Rows that a bell told of and that were not pending: polls had found them, or they are lost.
  virtual void HeardInVain(uint64_t /*rows*/) {}
  // Pending rows of a forward shard's log1 for a reverse shard that this mirror has in memory, and
  // the age of the oldest. Called for each pair while the forward shard is this mirror's, and once
  // with 0 when it has left.
  virtual void Pending(Shard /*forward*/, Shard /*reverse*/, uint64_t /*rows*/,
                       Duration /*oldest*/) {}
};

}  // namespace fanline::mirror
