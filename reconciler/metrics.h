// What a reconciler tells about itself, called like verbs so that no metric library stands in the
// logic. The do-nothing default serves the tests.
#pragma once

#include <cstdint>
#include <string>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "reconciler/verdict.h"

namespace fanline::reconciler {

// Why a pair went to the retries.
enum class RetryCause { kChecksFailed, kTooMany, kDeferred };

// What a repair did to an edge: brought a follower in line or back, ended one, or wrote the forward
// row anew.
enum class RepairKind { kAdd, kRemove, kBump };

class Metrics : public ConsumerMetrics {
 public:
  // What became of a msg1: answered by a msg2 after it, answered before it came, seen already,
  // or overtaken by a newer one before it was answered.
  virtual void Matched(Duration /*from_msg1_to_msg2*/) {}
  virtual void Early() {}
  virtual void Duplicate() {}
  virtual void Coalesced() {}
  // Its time was over: it is being checked. Once per msg1.
  virtual void TimedOut() {}
  // A msg2 whose msg1 never came: lost, or the reverse row was written by somebody else.
  virtual void EarlyExpired() {}
  virtual void SentToRetry(RetryCause) {}
  // A record that is no message we know.
  virtual void Undecodable(const std::string& /*why*/) {}

  // The two rows of an edge were compared.
  virtual void Checked(Finding) {}
  // The rows agree now, `since` the check began.
  virtual void Repaired(RepairKind, Duration /*since*/) {}
  // What would be written, were it not a dry run.
  virtual void WouldRepair(const EdgeKey&, const Verdict&) {}
  // No version is left above these rows: somebody must see to it.
  virtual void Unrepairable(const EdgeKey&) {}
  // Removals of this shard of reverse rows are held back until an operator allows them again.
  virtual void BreakerOpen(Shard, bool /*open*/) {}
  // Checks waited for this long.
  virtual void Throttled(Duration) {}

  // As of now, about once a second. `commit_lag`: records from the committed offsets to what was
  // consumed last, all partitions of ours together.
  virtual void Pending(uint64_t /*pairs*/, Duration /*oldest*/, uint64_t /*commit_lag*/) {}
  virtual void MirrorLagged(Duration) {}
  // Counters of a shard that are marked as wrong, at most as many as are looked at; and one that
  // was repaired, by so much.
  virtual void CountersMarked(Shard, uint64_t) {}
  // The sweep has looked at so many users, and marked so many counters that had drifted.
  virtual void CountersSwept(uint64_t /*users*/, uint64_t /*marked*/) {}
  virtual void CounterRepaired(int64_t /*drift*/) {}
  // Entries of the retries that this reconciler holds until they are due.
  virtual void RetriesHeld(uint64_t) {}
};

}  // namespace fanline::reconciler
