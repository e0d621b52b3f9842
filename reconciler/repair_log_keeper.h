// Keeps table repair_log bounded: deletes rows older than `keep` from every shard, a bounded number
// at a time, and again at once while there are more. It does so in every mode, because it changes
// nothing that users see. Several reconcilers may do so side by side.
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/ports/port.h"
#include "fanline/ports/repair_store.h"
#include "reconciler/metrics.h"

namespace fanline::reconciler {

struct RepairLogLimits {
  Duration keep = std::chrono::hours(24 * 30);
  Duration purge_every = std::chrono::hours(1);  // and once when it begins
  uint32_t rows_per_purge = 10'000;
  Duration after_failure = std::chrono::minutes(1);
};

class RepairLogKeeper {
 public:
  // `metrics` outlives this.
  RepairLogKeeper(Port<PurgeRepairs> store, Metrics& metrics, Shard shards,
                  const RepairLogLimits& limits = {})
      : store_(store), metrics_(metrics), limits_(limits), shards_(shards) {}

  // Returns when to step again, even without input. A shard that has not answered is not asked.
  [[nodiscard]] std::optional<Time> Step(std::span<const RepairsPurged> replies, Now now) {
    for (const RepairsPurged& reply : replies) On(reply, now);
    std::optional<Time> next;
    if (!taking_) return next;
    for (Shard shard = 0; shard < shards_.size(); ++shard) {
      ShardState& state = shards_[shard];
      if (!state.asking && state.purge_at <= now.mono) Purge(shard);
      if (!state.asking) next = Earlier(next, state.purge_at);
    }
    return next;
  }

  // From now on nothing more is asked; keep stepping until drained().
  void StopTaking() { taking_ = false; }
  bool drained() const {
    return std::none_of(shards_.begin(), shards_.end(),
                        [](const ShardState& state) { return state.asking; });
  }

 private:
  struct ShardState {
    bool asking = false;
    Time purge_at{};
  };

  void Purge(Shard shard) {
    shards_[shard].asking = true;
    store_.Submit(PurgeRepairs{++last_id_, shard,
                               std::chrono::duration_cast<std::chrono::seconds>(limits_.keep),
                               limits_.rows_per_purge});
  }

  void On(const RepairsPurged& purged, Now now) {
    ShardState& state = shards_.at(purged.shard);
    state.asking = false;
    if (!purged.status.done()) {
      metrics_.Parked(purged.status.resource);
      state.purge_at = now.mono + limits_.after_failure;
      return;
    }
    const bool more = purged.deleted >= limits_.rows_per_purge;
    state.purge_at = more ? now.mono : now.mono + limits_.purge_every;
  }

  const Port<PurgeRepairs> store_;
  Metrics& metrics_;
  const RepairLogLimits limits_;
  bool taking_ = true;
  uint64_t last_id_ = 0;
  std::vector<ShardState> shards_;
};

}  // namespace fanline::reconciler
