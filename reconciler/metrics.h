// What a reconciler tells about itself, called like verbs so that no metric library stands in the
// logic. The do-nothing default serves the tests.
#pragma once

#include <cstdint>

#include "fanline/time.h"

namespace fanline::reconciler {

// Why a pair went to the retries.
enum class RetryCause { kChecksFailed, kTooMany, kDeferred };

class Metrics {
 public:
  virtual ~Metrics() = default;

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
  // Offsets that had to be consumed are gone from the log: a scan must look for what was lost.
  virtual void LogGap(int32_t /*partition*/, int64_t /*wanted*/, int64_t /*first*/) {}
};

}  // namespace fanline::reconciler
