// Counts at intervals of `every` how many authors are merged at read, for a metric. A shard that
// does not answer keeps its last count. Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dispatcher/metrics.h"
#include "fanline/base/time.h"
#include "fanline/ports/port.h"
#include "fanline/ports/post_store.h"

namespace fanline::dispatcher {

class PulledCounts {
 public:
  // `ids` gives request ids; it and `metrics` outlive this object.
  PulledCounts(Port<CountPulled> posts, Metrics& metrics, uint32_t shards, Duration every,
               uint64_t& ids)
      : posts_(posts), metrics_(metrics), every_(every), ids_(ids), counts_(shards) {}

  void Step(Now now) {
    if (!due_) due_ = now.mono + every_;
    if (now.mono < *due_) return;
    due_ = now.mono + every_;
    for (Shard shard = 0; shard < counts_.size(); ++shard) posts_.Submit({++ids_, shard});
  }
  void On(const PulledCounted& counted) {
    if (!counted.status.done()) return;
    counts_.at(counted.shard) = {counted.by_hand, counted.by_itself};
    Count sum;
    for (const Count& each : counts_) {
      sum.by_hand += each.by_hand;
      sum.by_itself += each.by_itself;
    }
    metrics_.AuthorsPulled(sum.by_hand, sum.by_itself);
  }
  std::optional<Time> timer() const { return due_; }

 private:
  struct Count {
    uint64_t by_hand = 0, by_itself = 0;
  };

  const Port<CountPulled> posts_;
  Metrics& metrics_;
  const Duration every_;
  uint64_t& ids_;
  std::optional<Time> due_;
  std::vector<Count> counts_;  // by shard
};

}  // namespace fanline::dispatcher
