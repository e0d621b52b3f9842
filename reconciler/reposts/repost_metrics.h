// What the sweep of reposts reports about itself. The default does nothing and serves the tests.
#pragma once

#include <cstdint>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"

namespace fanline::reconciler {

class RepostMetrics : public ConsumerMetrics {
 public:
  // So many rows of table `repost` lie behind the sweep.
  virtual void RepostsPassed(uint64_t /*rows*/) {}
  // The log has the event that deletes a repost.
  virtual void RepostDeleted() {}
  // Each shard of this process has been swept to the end at this time or later.
  virtual void RepostsSweptSince(UnixMs) {}
};

}  // namespace fanline::reconciler
