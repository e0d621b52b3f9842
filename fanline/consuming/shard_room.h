// Counts the jobs that a consumer of events holds for each shard, and their memory. Jobs of shards
// that are away or too slow are parked: they do not count as under way, so that jobs of other
// shards go on. A shard whose parked jobs fill its share of memory stops the consumer, for nothing
// may be lost.
//
// Every shard has an equal share of the jobs that may be under way (shard_shares.h). Jobs beyond it
// are parked: a shard that hangs answers nothing for seconds, and would take all room before it
// counts as away.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
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

  // Bounds. `jobs`: under way for all shards. `bytes`: held up for one shard.
  ShardRoom(size_t shards, size_t jobs, size_t bytes)
      : bytes_(bytes), shares_(shards, jobs), shards_(shards) {}

  // A job for `shard` came with `record`; one is finished.
  void Took(Shard shard, const Record& record) {
    ++shares_.of(shard).jobs;
    At(shard).all += BytesOf(record);
    if (At(shard).away) Park(shard);
  }
  // Jobs finish in any order, so the one that finishes may be larger than those that are parked.
  void Finished(Shard shard, const Record& record) {
    ShardShares::Held& held = shares_.of(shard);
    --held.jobs;
    held.parked -= std::min<size_t>(held.parked, 1);
    One& one = At(shard);
    one.all -= BytesOf(record);
    one.parked = held.parked == 0 ? 0 : one.parked - std::min(one.parked, BytesOf(record));
  }
  // The shard's last answer says whether it is away. Once it is back, its parked jobs stay parked
  // until as many jobs have finished, so that they do not stop the others. New jobs count as under
  // way.
  void Answered(Shard shard, bool away) {
    At(shard).away = away;
    if (away) Park(shard);
  }

  [[nodiscard]] size_t jobs() const { return shares_.jobs(); }
  // Jobs of shards that are away, those still parked from such a time, and those beyond a share.
  [[nodiscard]] size_t parked() const { return shares_.held_up(); }
  // Whether no more jobs may be taken, and whether they may again.
  [[nodiscard]] bool full() const { return shares_.full() || Most() >= bytes_; }
  [[nodiscard]] bool roomy() const { return shares_.roomy() && Most() <= bytes_ / 2; }

 private:
  struct One {
    size_t all = 0, parked = 0;  // bytes of its jobs
    bool away = false;
  };

  One& At(Shard shard) { return shards_[static_cast<size_t>(shard)]; }
  void Park(Shard shard) {
    shares_.of(shard).parked = shares_.of(shard).jobs;
    At(shard).parked = At(shard).all;
  }
  size_t Most() const {
    size_t most = 0;
    for (Shard shard = 0; shard < shards_.size(); ++shard) {
      const One& one = shards_[shard];
      most = std::max(most, shares_.beyond_share(shard) ? one.all : one.parked);
    }
    return most;
  }

  const size_t bytes_;
  ShardShares shares_;
  std::vector<One> shards_;
};

}  // namespace fanline
