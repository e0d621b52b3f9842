// Counts the jobs that a consumer of events holds for each shard, and their memory. Jobs of shards
// that are away or too slow are parked: they do not count as under way, so that jobs of other
// shards go on. A shard whose jobs fill its share of memory stops the consumer until half of that
// is free, for nothing may be lost. So do records without a shard, which are on their way to the
// dead letters.
//
// Every shard has an equal share of the jobs that may be under way (shard_shares.h). Jobs beyond it
// are parked: a shard that hangs answers nothing for seconds, and would take all room before it
// counts as away.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "fanline/consuming/shard_shares.h"
#include "fanline/model/bucket.h"
#include "fanline/model/headers.h"
#include "fanline/model/record.h"

namespace fanline {

class ShardRoom {
 public:
  // The memory of a job. Headers count: producers send as many as they like.
  static size_t BytesOf(const Record& record) {
    constexpr size_t kOverhead = 512;  // beside its record
    return kOverhead + record.key.size() + record.value.size() + fanline::BytesOf(record.headers);
  }

  // Bounds. `jobs`: under way for all shards. `bytes`: of the jobs of one shard.
  ShardRoom(size_t shards, size_t jobs, size_t bytes)
      : most_bytes_(bytes),
        shares_(shards, jobs),
        away_(shards),
        bytes_(shards + 1),
        over_(shards + 1) {}

  // A job came with `record`; one is finished. None: it has no shard.
  void Took(std::optional<Shard> shard, const Record& record) {
    const size_t at = PlaceOf(shard);
    bytes_[at] += BytesOf(record);
    if (bytes_[at] >= most_bytes_) over_[at] = true;
    if (!shard) return;
    ++shares_.of(*shard).jobs;
    if (away_[*shard]) Park(*shard);
  }
  void Finished(std::optional<Shard> shard, const Record& record) {
    const size_t at = PlaceOf(shard);
    bytes_[at] -= BytesOf(record);
    if (bytes_[at] <= most_bytes_ / 2) over_[at] = false;
    if (!shard) return;
    ShardShares::Held& held = shares_.of(*shard);
    --held.jobs;
    held.parked -= std::min<size_t>(held.parked, 1);
  }
  // The shard's last answer says whether it is away. Once it is back, its parked jobs stay parked
  // until as many jobs have finished, so that they do not stop the others. New jobs count as under
  // way.
  void Answered(Shard shard, bool away) {
    away_[shard] = away;
    if (away) Park(shard);
  }

  [[nodiscard]] size_t jobs() const { return shares_.jobs(); }  // that have a shard
  // Jobs of shards that are away, those still parked from such a time, and those beyond a share.
  [[nodiscard]] size_t parked() const { return shares_.held_up(); }
  // Whether no more jobs may be taken, and whether they may again.
  [[nodiscard]] bool full() const { return shares_.full() || any_over(); }
  [[nodiscard]] bool roomy() const { return shares_.roomy() && !any_over(); }

 private:
  size_t PlaceOf(std::optional<Shard> shard) const { return shard.value_or(away_.size()); }
  void Park(Shard shard) { shares_.of(shard).parked = shares_.of(shard).jobs; }
  bool any_over() const { return std::find(over_.begin(), over_.end(), true) != over_.end(); }

  const size_t most_bytes_;
  ShardShares shares_;
  std::vector<bool> away_;     // by shard
  std::vector<size_t> bytes_;  // of jobs by shard, and last of those that have none
  std::vector<bool> over_;     // in the same order: filled its share, and half is not free yet
};

}  // namespace fanline
